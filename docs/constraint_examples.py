"""Give every public constraint an expression in which it is asked of two values, of which it allows the first."""

EXAMPLES = {
    "Constraint": "[isinstance(each, constraints.Constraint) for each in (constraints.positive, dist.Normal(0, 1))]",
    "below_identity": "constraints.below_identity(np.array([0.5 * np.eye(2), 2 * np.eye(2)]))",
    "boolean": "constraints.boolean(np.array([1, 2]))",
    "cat": "constraints.cat((constraints.sphere, constraints.real), lengths=(2, 1))(np.array([[0, 1, 9], [1, 1, 9]]))",
    "circular": "constraints.circular(np.array([3.0, 4.0]))",
    "complex": "constraints.complex(np.array([1 - 2j, np.nan]))",
    "corr_cholesky": "constraints.corr_cholesky(np.array([[[1.0, 0.0], [0.6, 0.8]], [[1.0, 0.0], [0.6, 0.6]]]))",
    "corr_matrix": "constraints.corr_matrix(np.array([[[1.0, 0.6], [0.6, 1.0]], [[1.0, 1.6], [1.6, 1.0]]]))",
    "greater_than": "constraints.greater_than(2)(np.array([2.1, 2.0]))",
    "greater_than_eq": "constraints.greater_than_eq(2)(np.array([2.0, 1.9]))",
    "independent": "constraints.independent(constraints.positive, 1)(np.array([[1.0, 2.0], [1.0, -2.0]]))",
    "integer_greater_than": "constraints.integer_greater_than(3)(np.array([3, 2]))",
    "integer_interval": "constraints.integer_interval(1, 3)(np.array([3, 4]))",
    "interval": "constraints.interval(-1, 3)(np.array([3.0, 3.1]))",
    "dependent": "[constraints.is_dependent(each) for each in (constraints.dependent, constraints.real)]",
    "is_dependent": "[constraints.is_dependent(each) for each in (constraints.dependent, constraints.positive)]",
    "l1_ball": "constraints.l1_ball(np.array([[0.5, -0.5], [0.6, -0.5]]))",
    "less_than": "constraints.less_than(2)(np.array([1.9, 2.0]))",
    "less_than_eq": "constraints.less_than_eq(2)(np.array([2.0, 2.1]))",
    "lower_cholesky": "constraints.lower_cholesky(np.array([[[1.0, 0.0], [-3.0, 0.1]], [[1.0, 0.1], [0.0, 1.0]]]))",
    "multinomial": "constraints.multinomial(3)(np.array([[2, 1, 0], [1, 1, 0]]))",
    "nonnegative": "constraints.nonnegative(np.array([0.0, -1.0]))",
    "nonnegative_integer": "constraints.nonnegative_integer(np.array([0, -1]))",
    "open_interval": "constraints.open_interval(-1, 3)(np.array([2.9, 3.0]))",
    "ordered_vector": "constraints.ordered_vector(np.array([[-1.0, 0.0, 2.0], [0.0, 0.0, 1.0]]))",
    "positive": "constraints.positive(np.array([3.0, 0.0]))",
    "positive_definite": "constraints.positive_definite(np.array([[[2, 1], [1, 2]], [[1, 2], [2, 1]]]))",
    "positive_definite_circulant_vector": (
        "constraints.positive_definite_circulant_vector(np.array([[1.0, 0.2, 0.1, 0.2], [1.0, 0.9, 0.1, 0.9]]))"
    ),
    "positive_integer": "constraints.positive_integer(np.array([1, 0]))",
    "positive_ordered_vector": "constraints.positive_ordered_vector(np.array([[0.1, 2.0], [2.0, 1.0]]))",
    "positive_semidefinite": (
        "constraints.positive_semidefinite(np.array([[[1.0, 1.0], [1.0, 1.0]], [[1.0, 2.0], [2.0, 1.0]]]))"
    ),
    "real": "constraints.real(np.array([-2.0, np.nan]))",
    "real_matrix": "constraints.real_matrix(np.array([[[0.0, 1.0]], [[0.0, np.nan]]]))",
    "real_vector": "constraints.real_vector(np.array([[0.0, 1.0], [0.0, np.nan]]))",
    "scaled_unit_lower_cholesky": (
        "constraints.scaled_unit_lower_cholesky(np.array([[[1.0, 0.0], [-3.0, 0.1]], [[1.0, 0.1], [0.0, 1.0]]]))"
    ),
    "simplex": "constraints.simplex(np.array([[0.2, 0.8], [0.3, 0.8]]))",
    "softplus_lower_cholesky": (
        "constraints.softplus_lower_cholesky(np.array([[[1.0, 0.0], [-3.0, 0.1]], [[1.0, 0.1], [0.0, 1.0]]]))"
    ),
    "softplus_positive": "constraints.softplus_positive(np.array([3.0, 0.0]))",
    "sphere": "constraints.sphere(np.array([[0.6, -0.8], [0.6, 0.6]]))",
    "unit_interval": "constraints.unit_interval(np.array([1.0, 1.1]))",
    "zero_sum": "constraints.zero_sum()(np.array([[1.0, -3.0, 2.0], [1.0, -3.0, 2.1]]))",
}
