// Linear regression under the regularised horseshoe, non-centred.
data {
  int X_0;
  int X_1;
  matrix[X_0, X_1] X;
  vector[X_0] y;
}
parameters {
  real intercept;
  real<lower=0> sigma;
  real<lower=0> tau;
  real<lower=0> slab;
  vector<lower=0>[X_1] local;
  vector[X_1] z;
}
transformed parameters {
  vector[X_1] beta;
  {
    real scale = tau * 10 / (X_1 - 10.0) * sigma / sqrt(X_0);
    beta = z .* (scale * sqrt(slab * square(local) ./ (slab + square(scale) * square(local))));
  }
}
model {
  intercept ~ normal(0, 5);
  sigma ~ normal(0, 2);
  tau ~ cauchy(0, 1);
  slab ~ inv_gamma(2, 8);
  local ~ cauchy(0, 1);
  z ~ std_normal();
  y ~ normal_id_glm(X, intercept, beta, sigma);
}
