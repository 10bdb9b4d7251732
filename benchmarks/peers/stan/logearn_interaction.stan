// Linear regression of a logarithm, with flat priors.
data {
  int earn_0;
  vector[earn_0] earn;
  vector[earn_0] height;
  vector[earn_0] male;
}
transformed data {
  vector[earn_0] log_earn = log(earn);
  matrix[earn_0, 3] x = append_col(append_col(height, male), height .* male);
}
parameters {
  vector[4] beta;
  real<lower=0> sigma;
}
model {
  log_earn ~ normal_id_glm(x, beta[1], beta[2:4], sigma);
}
