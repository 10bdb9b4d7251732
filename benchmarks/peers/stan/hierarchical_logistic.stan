// Logistic regression whose intercept varies between 200 groups, centred.
data {
  int X_0;
  int X_1;
  matrix[X_0, X_1] X;
  array[X_0] int group;
  array[X_0] int y;
}
transformed data {
  array[X_0] int from_one;
  for (i in 1 : X_0) {
    from_one[i] = group[i] + 1;
  }
}
parameters {
  vector[X_1] beta;
  real mu;
  real<lower=0> tau;
  vector[200] alpha;
}
model {
  beta ~ std_normal();
  mu ~ normal(0, 2);
  tau ~ std_normal();
  alpha ~ normal(mu, tau);
  y ~ bernoulli_logit_glm(X, alpha[from_one], beta);
}
