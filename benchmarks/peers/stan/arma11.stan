// ARMA(1,1); the error before the series began is zero.
data {
  int y_0;
  vector[y_0] y;
}
parameters {
  real mu;
  real phi;
  real theta;
  real<lower=0> sigma;
}
model {
  vector[y_0] error;
  mu ~ normal(0, 10);
  phi ~ normal(0, 2);
  theta ~ normal(0, 2);
  sigma ~ cauchy(0, 2.5);
  error[1] = y[1] - (mu + phi * mu);
  for (t in 2 : y_0) {
    error[t] = y[t] - (mu + phi * y[t - 1] + theta * error[t - 1]);
  }
  error ~ normal(0, sigma);
}
