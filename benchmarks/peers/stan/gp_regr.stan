// Gaussian process regression.
data {
  int x_0;
  array[x_0] real x;
  vector[x_0] y;
}
parameters {
  real<lower=0> rho;
  real<lower=0> alpha;
  real<lower=0> sigma;
}
model {
  matrix[x_0, x_0] covariance = add_diag(gp_exp_quad_cov(x, alpha, rho), sigma);
  rho ~ gamma(25, 4);
  alpha ~ normal(0, 2);
  sigma ~ normal(0, 1);
  y ~ multi_normal_cholesky(rep_vector(0, x_0), cholesky_decompose(covariance));
}
