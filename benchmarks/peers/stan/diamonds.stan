// Linear regression on 24 centred columns.
data {
  int X_0;
  int X_1;
  matrix[X_0, X_1] X;
  vector[X_0] Y;
}
transformed data {
  matrix[X_0, X_1 - 1] centred;
  for (i in 2 : X_1) {
    centred[, i - 1] = X[, i] - mean(X[, i]);
  }
}
parameters {
  vector[X_1 - 1] b;
  real Intercept;
  real<lower=0> sigma;
}
model {
  b ~ normal(0, 1);
  Intercept ~ student_t(3, 8, 10);
  sigma ~ student_t(3, 0, 10);
  Y ~ normal_id_glm(centred, Intercept, b, sigma);
}
