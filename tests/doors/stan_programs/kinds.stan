// Every kind of parameter, and each way to go wrong, of which `mode` takes one.
functions {
  real part(array[] real y, int first, int last, real a) {
    return normal_lpdf(y | a, 1);
  }
}
data {
  int<lower=0, upper=5> mode;
  int<lower=0> none;
  array[2, 3] real table;
  array[2] matrix[2, 3] blocks;
  vector[none] empty;
}
transformed data {
  real noise = normal_rng(0, 1);
  real half = 1 / 2;
  array[300] real many;
  for (i in 1 : 300) many[i] = sqrt(i) / 30;
}
parameters {
  real a;
  array[2] vector<lower=0>[3] b;
  simplex[3] p;
  ordered[3] o;
  cholesky_factor_corr[3] L;
  cov_matrix[2] S;
  matrix[2, 3] m;
  array[2, 3] real r;
  vector[none] e;
}
transformed parameters {
  array[2] matrix[2, 3] scaled;
  for (i in 1 : 2) scaled[i] = a * blocks[i];
}
model {
  a ~ normal(0, 1);
  for (i in 1 : 2) b[i] ~ lognormal(0, 1);
  o ~ normal(0, 2);
  L ~ lkj_corr_cholesky(2);
  S ~ inv_wishart(4, identity_matrix(2));
  to_vector(m) ~ normal(to_vector(blocks[1]), 1);
  for (i in 1 : 2) r[i] ~ normal(table[i], 1);
  target += reduce_sum(part, many, 1, a);
  if (mode == 1 && a > 0.4) reject("a is ", a, ", which is too much");
  if (mode == 2) print("for the record");
  if (mode == 3 && a > 0.4) target += table[3, 1];
}
generated quantities {
  int k = poisson_rng(2);
  real late = mode == 4 ? normal_rng(0, -1) : noise;
}
