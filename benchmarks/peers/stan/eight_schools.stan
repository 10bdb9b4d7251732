// Non-centred hierarchical normal model.
data {
  int y_0;
  vector[y_0] y;
  vector<lower=0>[y_0] sigma;
}
parameters {
  real mu;
  real<lower=0> tau;
  vector[y_0] z;
}
transformed parameters {
  vector[y_0] theta = mu + tau * z;
}
model {
  mu ~ normal(0, 5);
  tau ~ cauchy(0, 5);
  z ~ std_normal();
  y ~ normal(theta, sigma);
}
