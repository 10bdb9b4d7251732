// Counts whose log rate is a Gaussian process, in its standardised form.
data {
  int x_0;
  array[x_0] real x;
  array[x_0] int k;
}
parameters {
  real<lower=0> rho;
  real<lower=0> alpha;
  vector[x_0] f_tilde;
}
transformed parameters {
  vector[x_0] f = cholesky_decompose(add_diag(gp_exp_quad_cov(x, alpha, rho), 1e-10)) * f_tilde;
}
model {
  rho ~ gamma(25, 4);
  alpha ~ normal(0, 2);
  f_tilde ~ std_normal();
  k ~ poisson_log(f);
}
