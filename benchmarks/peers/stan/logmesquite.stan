// Linear regression of a logarithm on logarithms, with flat priors.
data {
  int weight_0;
  vector[weight_0] weight;
  vector[weight_0] diam1;
  vector[weight_0] diam2;
  vector[weight_0] canopy_height;
  vector[weight_0] total_height;
  vector[weight_0] density;
  vector[weight_0] group;
}
transformed data {
  vector[weight_0] log_weight = log(weight);
  matrix[weight_0, 6] x;
  x[, 1] = log(diam1);
  x[, 2] = log(diam2);
  x[, 3] = log(canopy_height);
  x[, 4] = log(total_height);
  x[, 5] = log(density);
  x[, 6] = group;
}
parameters {
  vector[7] beta;
  real<lower=0> sigma;
}
model {
  log_weight ~ normal_id_glm(x, beta[1], beta[2:7], sigma);
}
