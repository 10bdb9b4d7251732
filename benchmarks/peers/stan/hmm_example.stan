// Hidden Markov model of two states, by the forward algorithm.
data {
  int y_0;
  vector[y_0] y;
}
parameters {
  simplex[2] theta1;
  simplex[2] theta2;
  positive_ordered[2] mu;
}
model {
  vector[2] from1 = log(theta1);
  vector[2] from2 = log(theta2);
  vector[2] weight;
  mu[1] ~ normal(3, 1);
  mu[2] ~ normal(10, 1);
  for (state in 1 : 2) {
    weight[state] = normal_lpdf(y[1] | mu[state], 1);
  }
  for (t in 2 : y_0) {
    vector[2] before = weight;
    for (state in 1 : 2) {
      weight[state] = log_sum_exp(before[1] + from1[state], before[2] + from2[state])
                      + normal_lpdf(y[t] | mu[state], 1);
    }
  }
  target += log_sum_exp(weight);
}
