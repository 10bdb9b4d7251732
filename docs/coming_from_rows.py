"""List idioms of other libraries and the code to write in accord. A test runs that code for every row."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Idiom:
    """Pair an idiom with ours, as one row of a page. If `is_statement`, `ours` stands in a model, else in a script."""

    theirs: str
    ours: str
    note: str = ""
    is_statement: bool = False


def _in_model(theirs: str, ours: str, note: str = "") -> Idiom:
    return Idiom(theirs, ours, note, is_statement=True)


NUMPYRO = (
    Idiom(
        "def model(x, y=None): ...",
        "model(x, y)",
        "Decorate the function with `@ac.model`. Call it to bind data.",
    ),
    _in_model('numpyro.sample("a", dist.Normal(0, 1))', 'ac.sample("a", dist.Normal(0, 1))'),
    _in_model(
        'numpyro.sample("y", d, obs=y)',
        'with ac.plate("row", len(y)): ac.sample("y", dist.Normal(0, 1), obs=y)',
        "A scalar distribution with vector data needs a plate.",
    ),
    _in_model('with numpyro.plate("p", 3, dim=-2): ...', 'with ac.plate("p", 3, dim=-2): ...'),
    _in_model('numpyro.deterministic("m", v)', 'ac.deterministic("m", 2.0)'),
    _in_model('numpyro.factor("f", v)', 'ac.factor("f", -1.0)'),
    _in_model(
        'numpyro.param("p", 1.0, constraint=...)', 'ac.param("p", 1.0, constraint=constraints.positive)'
    ),
    _in_model(
        "scan(f, init, xs)  # numpyro.contrib.control_flow",
        "ac.scan(step, 0.0, x)",
        "A step may contain any statement.",
    ),
    _in_model(
        'numpyro.sample("z", d, infer={"enumerate": "parallel"})',
        'z = ac.sample("z", dist.Categorical(np.array([0.3, 0.7])))',
        "It is summed out, without `config_enumerate`: [discrete unknowns](discrete.md).",
    ),
    _in_model('flax_module("net", net, ...)', "ac.module", "See [neural networks](modules.md)."),
    Idiom(
        "MCMC(NUTS(model), num_warmup=w, num_samples=n, num_chains=c).run(key, x, y=y)",
        "infer.sample(model(x, y=y), draws=n, warmup=w, chains=c, seed=0)",
        "Without `warmup`, it lasts as long as a chain needs.",
    ),
    Idiom("mcmc.get_samples(group_by_chain=True)", 'draws["slope"]', "The shape is (chain, draw, *site)."),
    Idiom("mcmc.get_samples()", 'draws["slope"].reshape(-1)', "Chains follow each other."),
    Idiom("mcmc.print_summary()", "print(draws.summary())"),
    Idiom('mcmc.get_extra_fields()["diverging"]', 'draws.stats["diverging"]'),
    Idiom("NUTS(model, target_accept_prob=0.9)", "infer.NUTS(target_accept=0.9)"),
    Idiom(
        "NUTS(model, dense_mass=True)",
        'infer.NUTS(metric="dense")',
        "The default chooses the form.",
    ),
    Idiom("NUTS(model, max_tree_depth=12)", "infer.NUTS(max_tree_depth=12)"),
    Idiom(
        "init_strategy=init_to_median",
        "infer.sample(model(x, y), init=infer.from_median(), draws=n, warmup=w)",
    ),
    Idiom(
        "init_strategy=init_to_value(values=v)",
        'infer.sample(model(x, y), init=infer.from_values({"slope": 0.5}), draws=n, warmup=w)',
    ),
    Idiom("Predictive(model, samples)(key, x_new)", "infer.predict(draws, model(x_new))"),
    Idiom(
        "infer_discrete(model, temperature=1)",
        'draws["slope"]',
        'Draws have values of discrete sites. `temperature=0` is `infer.predict(draws, kind="mode")`.',
    ),
    Idiom("Predictive(model, num_samples=500)(key, x)", "model(x).prior(draws=500)"),
    Idiom("log_likelihood(model, samples, x, y=y)", "infer.log_likelihood(draws)"),
    Idiom('handlers.condition(model, data={"slope": 1.0})', 'model(x, y).condition({"slope": 1.0})'),
    Idiom('handlers.do(model, data={"slope": 1.0})', 'model(x, y).do({"slope": 1.0})'),
    Idiom("handlers.seed(model, rng_seed=0)(x)", "handlers.seed(model(x), key=0)()"),
    Idiom("handlers.trace(f).get_trace()", "handlers.trace(handlers.seed(model(x), key=0)).get_trace()"),
    Idiom(
        'handlers.reparam(model, config={"effect": LocScaleReparam(0)})',
        'handlers.reparam(groups(g, y), {"effect": reparam.LocScale()})',
        "`reparam.propose` finds the sites that need it.",
    ),
    Idiom(
        "initialize_model(...)",
        "model(x, y).log_density()",
        "It is a function of a vector of unconstrained parameters.",
    ),
    Idiom(
        "numpyro.enable_x64()",
        "infer.sample(model(x, y), draws=n, warmup=w)",
        "Not needed: a run uses float64.",
    ),
    Idiom(
        "numpyro.set_host_device_count(4)",
        "infer.sample(model(x, y), draws=n, warmup=w, chains=4)",
        "Not needed: chains run in threads.",
    ),
    Idiom(
        'chain_method="vectorized"',
        "infer.sample(model(x, y), draws=n, warmup=w, chains=4, lanes=4)",
        "This is the default on accelerators.",
    ),
    Idiom("arviz.from_numpyro(mcmc)", "draws.to_arviz()", "Plates give dims and coords."),
    Idiom(
        "pd.factorize(df.group)",
        'ac.levels(["b", "a", "b"])',
        "Pass it to the model: it has codes and labels.",
    ),
)

PYMC = (
    Idiom(
        "with pm.Model() as m: ...",
        "model(x, y)",
        "Decorate a function with `@ac.model`. Call it to bind data.",
    ),
    _in_model('pm.Normal("a", mu=0, sigma=1)', 'ac.sample("a", dist.Normal(0, 1))'),
    _in_model(
        'pmx.marginalize(m, ["z"])  # z = pm.Categorical("z", p)',
        'z = ac.sample("z", dist.Categorical(np.array([0.3, 0.7])))',
        "It is summed out without being named, scans included: [discrete unknowns](discrete.md).",
    ),
    _in_model(
        'pm.Normal("y", mu, sigma, observed=y)',
        'with ac.plate("row", len(y)): ac.sample("y", dist.Normal(0, 1), obs=y)',
    ),
    _in_model(
        'coords={"g": names}, dims="g"',
        'with ac.plate("g", 3, coords=["n", "e", "s"]): ac.sample("b", dist.Normal(0, 1))',
        "Plates name the dimensions of draws.",
    ),
    _in_model(
        'pm.Normal("b", 0, 1, shape=3)',
        'ac.sample("b", dist.Normal(0, 1).expand((3,)).to_event(1))',
        "A plate does it too.",
    ),
    _in_model('pm.Deterministic("m", v)', 'ac.deterministic("m", 2.0)'),
    _in_model('pm.Potential("f", v)', 'ac.factor("f", -1.0)'),
    Idiom('pm.Data("x", x), pm.set_data({"x": x_new})', "model(x_new)", "Data are arguments of the model."),
    _in_model("pm.math.exp(v), pt.exp(v)", "jnp.exp(1.0)", "Use `jax.numpy` in models."),
    _in_model("pm.Truncated.dist(d, lower=0)", "dist.Normal(0, 1).truncate(low=0)"),
    _in_model("pm.Censored.dist(d, None, 3)", "dist.Normal(0, 1).censor(high=3)"),
    _in_model(
        "pm.Mixture.dist(w, comp_dists)",
        "dist.MixtureSameFamily(dist.Categorical(probs=np.array([0.3, 0.7])), dist.Normal(np.array([0.0, 2.0]), 1))",
    ),
    _in_model("pm.MvNormal.dist(mu, cov)", "dist.MultivariateNormal(np.zeros(2), np.eye(2))"),
    _in_model(
        "pm.LKJCholeskyCov(...)",
        "dist.LKJCholesky(3, 2.0)",
        "Multiply the factor by scales: `sigma[:, None] * L`.",
    ),
    _in_model(
        "pm.Gamma.dist(alpha, beta)", "dist.Gamma(2.0, 1.0)", "The parameters are concentration and rate."
    ),
    _in_model("pm.StudentT.dist(nu, mu, sigma)", "dist.StudentT(4, 0, 1)"),
    _in_model(
        "pm.NegativeBinomial.dist(mu, alpha)",
        "dist.NegativeBinomial2(3.0, 2.0)",
        "The parameters are mean and concentration.",
    ),
    _in_model(
        "pm.Weibull.dist(alpha, beta)",
        "dist.Weibull(concentration=2.0, scale=1.0)",
        "The positional order is scale, concentration.",
    ),
    _in_model(
        "pm.ZeroInflatedPoisson.dist(psi, mu)",
        "dist.ZeroInflatedPoisson(gate=1 - 0.7, rate=3.0)",
        "`gate` is the probability of an extra zero: 1 - `psi`.",
    ),
    Idiom(
        'bmb.Model("y ~ x + (1|g)", df)',
        'ac.glm("y ~ x + (1|g)", {"x": x, "y": y, "g": g})',
        "With Bambi's priors, and correlations in `(x|g)`: [formulas](formulas.md).",
    ),
    _in_model("pm.gp.cov.ExpQuad, pm.gp.HSGP", "gp.SineBasis", "See [processes](processes.md)."),
    Idiom(
        "pm.sample(1000, tune=1000, chains=4, random_seed=0)",
        "infer.sample(model(x, y), draws=n, warmup=w, chains=4, seed=0)",
        "Without `warmup`, it lasts as long as a chain needs.",
    ),
    Idiom("target_accept=0.9", "infer.sample(model(x, y), infer.NUTS(target_accept=0.9), draws=n, warmup=w)"),
    Idiom(
        "cores=4",
        "infer.sample(model(x, y), executor=infer.Threads(4), draws=n, warmup=w)",
        "The executor does not change the draws.",
    ),
    Idiom("progressbar=False", "infer.sample(model(x, y), draws=n, warmup=w, progress=False)"),
    Idiom("initvals={...}", 'infer.sample(model(x, y), init={"slope": 0.5}, draws=n, warmup=w)'),
    Idiom(
        'idata.posterior["slope"]',
        'draws["slope"]',
        '`draws.to_arviz()["posterior"]` is the ArviZ group.',
    ),
    Idiom("az.summary(idata)", "draws.summary()"),
    Idiom("pm.sample_prior_predictive()", "model(x).prior(draws=500)"),
    Idiom("pm.sample_posterior_predictive(idata)", "infer.predict(draws)"),
    Idiom("pm.set_data(...), predictions=True", "infer.predict(draws, model(x_new))", "Shapes may change."),
    Idiom("pm.compute_log_likelihood(idata)", "infer.log_likelihood(draws)"),
    Idiom("az.loo(idata)", "infer.loo(draws)"),
    Idiom('az.compare({"a": idata_a, "b": idata_b})', 'infer.compare({"a": draws, "b": draws})'),
    Idiom(
        "pd.factorize(df.group)",
        'ac.levels(["b", "a", "b"])',
        "Pass it to the model: it has codes and labels.",
    ),
    Idiom("pm.find_MAP()", "infer.find_mode(model(x, y))", "It has standard errors."),
    Idiom('pm.do(m, {"slope": 1.0})', 'model(x, y).do({"slope": 1.0})'),
    Idiom('pm.observe(m, {"slope": 1.0})', 'model(x, y).condition({"slope": 1.0})'),
    Idiom("pm.model_to_graphviz(m)", "model(x, y).graph()"),
)

STAN = (
    Idiom(
        "data { vector[N] x; }",
        "model(x, y)",
        "Data are arguments of the model. Sizes come from their shapes.",
    ),
    _in_model("parameters { real a; } model { a ~ normal(0, 1); }", 'ac.sample("a", dist.Normal(0, 1))'),
    _in_model(
        "target += log_mix(theta, lp0, lp1);",
        'z = ac.sample("z", dist.Categorical(np.array([0.3, 0.7])))',
        "Write the label as a site: it is [summed out](discrete.md). A mixture's distribution works too.",
    ),
    _in_model(
        "y ~ normal(mu, sigma);",
        'with ac.plate("row", len(y)): ac.sample("y", dist.Normal(0, 1), obs=y)',
        "All constants are included: `lp` differs from Stan's by a constant.",
    ),
    _in_model(
        "real<lower=0> s;  // without a prior",
        'ac.sample("s", dist.ImproperUniform(constraints.positive, (), ()))',
        "With a prior, the distribution gives the support.",
    ),
    _in_model("real a;  // without a prior", 'ac.sample("a", dist.Flat())'),
    _in_model("vector[3] b;", 'with ac.plate("b_plate", 3): ac.sample("b", dist.Normal(0, 1))'),
    _in_model("simplex[3] p;", 'ac.sample("p", dist.Dirichlet(np.ones(3)))'),
    _in_model("ordered[3] k;", 'ac.sample("k", dist.ordered(dist.Normal(0, 1).expand((3,)).to_event(1)))'),
    _in_model("cholesky_factor_corr[3] L;", 'ac.sample("L", dist.LKJCholesky(3, 2.0))'),
    _in_model(
        "transformed parameters { real m = ...; }",
        'ac.deterministic("m", 2.0)',
        "A plain assignment computes without storing.",
    ),
    _in_model("target += f;", 'ac.factor("f", -1.0)'),
    _in_model("y ~ normal(0, 1) T[0, 5];", "dist.Normal(0, 1).truncate(0, 5)"),
    _in_model("normal_lpdf(y | 0, 1)", "dist.Normal(0, 1).log_prob(y)"),
    _in_model("gamma(2, 1)", "dist.Gamma(2.0, 1.0)", "The parameters are shape and rate, as in Stan."),
    _in_model("neg_binomial_2(mu, phi)", "dist.NegativeBinomial2(3.0, 2.0)"),
    _in_model(
        "weibull(alpha, sigma)",
        "dist.Weibull(concentration=2.0, scale=1.0)",
        "The positional order is scale, concentration.",
    ),
    _in_model("beta_binomial(n, alpha, beta)", "dist.BetaBinomial(2.0, 3.0, total_count=10)"),
    _in_model("bernoulli_logit(eta)", "dist.Bernoulli(logits=0.3)"),
    _in_model("poisson_log(eta)", "dist.LogPoisson(0.3)"),
    _in_model("multi_normal_cholesky(mu, L)", "dist.MultivariateNormal(np.zeros(2), scale_tril=np.eye(2))"),
    Idiom(
        "real<offset=mu, multiplier=tau> theta;",
        'handlers.reparam(groups(g, y), {"effect": reparam.LocScale()})',
        "The code of the model does not change.",
    ),
    Idiom("a[g[i]]  // g from 1", "groups(g, y)", "Codes begin at 0: subtract 1, or use `ac.levels`."),
    _in_model("for (t in 2:T) ...", "ac.scan(step, 0.0, x)", "Use a plate for independent repetitions."),
    _in_model("ode_rk45(f, y0, t0, ts, k)", "ode.solve(decay, jnp.ones(1), 0.0, np.array([1.0, 2.0]), 0.5)"),
    Idiom("generated quantities { y_rep = normal_rng(...); }", "infer.predict(draws)"),
    Idiom("generated quantities { log_lik[i] = ...; }", "infer.log_likelihood(draws)"),
    Idiom(
        "sample num_samples=1000 num_warmup=1000",
        "infer.sample(model(x, y), draws=n, warmup=w, chains=4, seed=0)",
        "Without `warmup`, it lasts as long as a chain needs.",
    ),
    Idiom("adapt delta=0.95", "infer.NUTS(target_accept=0.95)"),
    Idiom("max_depth=12, max_treedepth=12", "infer.NUTS(max_tree_depth=12)"),
    Idiom("metric=dense_e", 'infer.NUTS(metric="dense")', "The default chooses the form."),
    Idiom("init=0.5", "infer.sample(model(x, y), init=infer.from_uniform(0.5), draws=n, warmup=w)"),
    Idiom("fit.summary(), fit.diagnose()", "print(draws.summary()); draws.notices"),
    Idiom("loo(fit), loo_compare(...)  # in R", 'infer.loo(draws); infer.compare({"a": draws, "b": draws})'),
    Idiom("loo_moment_match(fit, loo)  # in R", "infer.loo(draws, moment_match=True)"),
    Idiom("kfold(fit, K = 2)  # in R", "infer.kfold(model(x, y), folds=2, draws=n, warmup=w)"),
    Idiom("bridge_sampler(fit)  # in R", "infer.evidence(draws)"),
    Idiom(
        "optimize",
        "infer.find_mode(model(x, y))",
        'The posterior mode, as with `jacobian=0`. `"mle"` leaves the priors out.',
    ),
    Idiom(
        "reduce_sum, map_rect",
        "infer.Devices(shard={'x': 0, 'y': 0})",
        "See [parallel likelihoods](parallel.md).",
    ),
)

TURING = (
    Idiom(
        "@model function f(x, y) ... end",
        "model(x, y)",
        "Decorate a function with `@ac.model`. Call it to bind data.",
    ),
    _in_model("a ~ Normal(0, 1)", 'ac.sample("a", dist.Normal(0, 1))'),
    _in_model(
        "z ~ Categorical([0.3, 0.7])  # with Gibbs or PG",
        'z = ac.sample("z", dist.Categorical(np.array([0.3, 0.7])))',
        "It is [summed out](discrete.md), and needs no sampler of its own.",
    ),
    _in_model(
        "y .~ Normal(m, s)",
        'with ac.plate("row", len(y)): ac.sample("y", dist.Normal(0, 1), obs=y)',
        "`obs=` marks observations.",
    ),
    _in_model("m := e", 'ac.deterministic("m", 2.0)'),
    _in_model("@addlogprob! f", 'ac.factor("f", -1.0)'),
    _in_model("b ~ filldist(Normal(), 3)", 'with ac.plate("b_plate", 3): ac.sample("b", dist.Normal(0, 1))'),
    _in_model("b ~ arraydist(Normal.(m, 1))", 'with ac.plate("k", 8): ac.sample("b", dist.Normal(x, 1))'),
    _in_model("a ~ to_submodel(part())", 'ac.submodel(part(), prefix="part")'),
    _in_model("truncated(Normal(), 0, 5)", "dist.Normal(0, 1).truncate(0, 5)"),
    _in_model("censored(Normal(), nothing, 3)", "dist.Normal(0, 1).censor(high=3)"),
    _in_model("MvNormal(zeros(2), I)", "dist.MultivariateNormal(np.zeros(2), np.eye(2))"),
    _in_model(
        "Gamma(shape, scale)",
        "dist.Gamma(2.0, 1 / 0.5)",
        "It takes a rate: one over Julia's scale.",
    ),
    _in_model("Exponential(scale)", "dist.Exponential(1 / 2.0)", "It takes a rate too."),
    _in_model(
        "Weibull(shape, scale)",
        "dist.Weibull(concentration=2.0, scale=1.0)",
        "The positional order is scale, concentration.",
    ),
    _in_model(
        "NegativeBinomial(r, p)",
        "dist.NegativeBinomial(5, probs=1 - 0.3)",
        "`probs` is one minus Julia's `p`.",
    ),
    _in_model(
        "y has missing values",
        'with ac.plate("row", 8): ac.sample("y", dist.Normal(0, 1), obs=y, obs_mask=np.isfinite(y))',
        "See [missing observations](models.md#missing-observations).",
    ),
    Idiom("f(x, y) | (slope = 1.0,)", 'model(x, y) | {"slope": 1.0}'),
    Idiom("condition, decondition", 'model(x, y).condition({"slope": 1.0}).uncondition(["slope"])'),
    Idiom("fix, unfix", 'model(x, y).do({"slope": 1.0}).undo()'),
    Idiom(
        "sample(m, NUTS(), MCMCThreads(), 1000, 4)",
        "infer.sample(model(x, y), draws=n, warmup=w, chains=4)",
        "Chains run in threads by default.",
    ),
    Idiom("NUTS(1000, 0.9)", "infer.NUTS(target_accept=0.9)", "Give `warmup=` to `infer.sample`."),
    Idiom("HMC(0.1, 10)", "infer.HMC(trajectory_length=1.0)", "Warm-up sets the step size."),
    Idiom("initial_params = ...", 'infer.sample(model(x, y), init={"slope": 0.5}, draws=n, warmup=w)'),
    Idiom("progress = false", "infer.sample(model(x, y), draws=n, warmup=w, progress=False)"),
    Idiom("chain[:slope]", 'draws["slope"]'),
    Idiom("describe(chain)", "print(draws.summary())"),
    Idiom("predict(f(x_new), chain)", "infer.predict(draws, model(x_new))"),
    Idiom("sample(f(x), Prior(), 500)", "model(x).prior(draws=500)"),
    Idiom("returned(f(x, y), chain)", "infer.returned(draws)"),
    Idiom("pointwise_loglikelihoods(f(x, y), chain)", "infer.log_likelihood(draws)"),
    Idiom("psis_loo(f(x, y), chain)", "infer.loo(draws)"),
    Idiom("logjoint(f(x, y), values)", "infer.log_joint(draws)"),
    Idiom("maximum_a_posteriori(f(x, y))", "infer.find_mode(model(x, y))"),
    Idiom("maximum_likelihood(f(x, y))", 'infer.find_mode(model(x, y), "mle")'),
    Idiom("LogDensityFunction(f(x, y))", "model(x, y).log_density()"),
    Idiom(
        "save_state, resume_from",
        'infer.RunFolder("run")',
        "See [running](running.md#resume-and-extend-a-run).",
    ),
)
