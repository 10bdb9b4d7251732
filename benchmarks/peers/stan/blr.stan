// Linear regression with normal priors.
data {
  int X_0;
  int X_1;
  matrix[X_0, X_1] X;
  vector[X_0] y;
}
parameters {
  vector[X_1] beta;
  real<lower=0> sigma;
}
model {
  beta ~ normal(0, 10);
  sigma ~ normal(0, 10);
  y ~ normal_id_glm(X, 0, beta, sigma);
}
