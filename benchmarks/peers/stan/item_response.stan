// The two-parameter logistic model.
data {
  int y_0;
  int y_1;
  array[y_0, y_1] int y;
}
transformed data {
  array[y_1, y_0] int by_question;
  for (question in 1 : y_1) {
    by_question[question] = y[ : , question];
  }
}
parameters {
  vector[y_0] ability;
  vector<lower=0>[y_1] discrimination;
  vector[y_1] difficulty;
}
model {
  ability ~ std_normal();
  discrimination ~ lognormal(0, 0.5);
  difficulty ~ normal(0, 2);
  for (question in 1 : y_1) {
    by_question[question] ~ bernoulli_logit(discrimination[question] * (ability - difficulty[question]));
  }
}
