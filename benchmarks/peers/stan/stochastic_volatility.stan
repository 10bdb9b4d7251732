// Log variance as an autoregression, by its standardised shocks.
data {
  int y_0;
  vector[y_0] y;
}
parameters {
  real mu;
  real<lower=-1, upper=1> phi;
  real<lower=0> sigma;
  vector[y_0] z;
}
model {
  vector[y_0] deviation = sigma * z;
  deviation[1] /= sqrt(1 - square(phi));
  for (t in 2 : y_0) {
    deviation[t] += phi * deviation[t - 1];
  }
  mu ~ normal(0, 5);
  sigma ~ std_normal();
  z ~ std_normal();
  y ~ normal(0, exp((mu + deviation) / 2));
}
