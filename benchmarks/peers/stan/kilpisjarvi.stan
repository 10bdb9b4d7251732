// A straight line over years that are not centred.
data {
  int x_0;
  vector[x_0] x;
  vector[x_0] y;
  real pmualpha;
  real psalpha;
  real pmubeta;
  real psbeta;
}
transformed data {
  matrix[x_0, 1] column = to_matrix(x, x_0, 1);
}
parameters {
  real alpha;
  real beta;
  real<lower=0> sigma;
}
model {
  alpha ~ normal(pmualpha, psalpha);
  beta ~ normal(pmubeta, psbeta);
  y ~ normal_id_glm(column, alpha, [beta]', sigma);
}
