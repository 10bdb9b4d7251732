// A drug in one compartment.
functions {
  vector slope(real t, vector C, real k_a, real K_m, real V_m, real D, real V) {
    real dose = t > 0 ? exp(-k_a * t) * D * k_a / V : 0;
    return [dose - V_m / V * C[1] / (K_m + C[1])]';
  }
}
data {
  real t0;
  real D;
  real V;
  int times_0;
  array[times_0] real times;
  vector[times_0] C_hat;
}
parameters {
  real<lower=0> k_a;
  real<lower=0> K_m;
  real<lower=0> V_m;
  real<lower=0> sigma;
}
model {
  array[times_0] vector[1] C
    = ode_rk45_tol(slope, [0]', t0, times, 1e-7, 1e-9, 1000, k_a, K_m, V_m, D, V);
  k_a ~ cauchy(0, 1);
  K_m ~ cauchy(0, 1);
  V_m ~ cauchy(0, 1);
  sigma ~ cauchy(0, 1);
  C_hat ~ lognormal(log(C[ : , 1]), sigma);
}
