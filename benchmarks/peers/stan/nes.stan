// Linear regression with three indicators of age, with flat priors.
data {
  int partyid7_0;
  vector[partyid7_0] partyid7;
  vector[partyid7_0] real_ideo;
  vector[partyid7_0] race_adj;
  array[partyid7_0] int age_discrete;
  vector[partyid7_0] educ1;
  vector[partyid7_0] gender;
  vector[partyid7_0] income;
}
transformed data {
  matrix[partyid7_0, 8] x;
  x[, 1] = real_ideo;
  x[, 2] = race_adj;
  for (n in 1 : partyid7_0) {
    for (group in 2 : 4) {
      x[n, group + 1] = age_discrete[n] == group;
    }
  }
  x[, 6] = educ1;
  x[, 7] = gender;
  x[, 8] = income;
}
parameters {
  vector[9] beta;
  real<lower=0> sigma;
}
model {
  partyid7 ~ normal_id_glm(x, beta[1], beta[2:9], sigma);
}
