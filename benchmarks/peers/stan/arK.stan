// Autoregression of order K.
data {
  int y_0;
  int K;
  vector[y_0] y;
}
transformed data {
  matrix[y_0 - K, K] lagged;
  for (lag in 1 : K) {
    lagged[, lag] = y[(K + 1 - lag) : (y_0 - lag)];
  }
}
parameters {
  real alpha;
  vector[K] beta;
  real<lower=0> sigma;
}
model {
  alpha ~ normal(0, 10);
  beta ~ normal(0, 10);
  sigma ~ cauchy(0, 2.5);
  y[(K + 1) : y_0] ~ normal_id_glm(lagged, alpha, beta, sigma);
}
