// Linear regression on two columns and their product.
data {
  int kid_score_0;
  vector[kid_score_0] kid_score;
  vector[kid_score_0] mom_hs;
  vector[kid_score_0] mom_iq;
}
transformed data {
  matrix[kid_score_0, 3] x = append_col(append_col(mom_hs, mom_iq), mom_hs .* mom_iq);
}
parameters {
  vector[4] beta;
  real<lower=0> sigma;
}
model {
  sigma ~ cauchy(0, 2.5);
  kid_score ~ normal_id_glm(x, beta[1], beta[2:4], sigma);
}
