// Hares and lynxes.
functions {
  vector slope(real t, vector z, vector theta) {
    return [(theta[1] - theta[2] * z[2]) * z[1], (-theta[3] + theta[4] * z[1]) * z[2]]';
  }
}
data {
  int ts_0;
  array[ts_0] real ts;
  array[2] real<lower=0> y_init;
  array[ts_0, 2] real<lower=0> y;
}
parameters {
  vector<lower=0>[4] theta;
  vector<lower=0>[2] z_init;
  vector<lower=0>[2] sigma;
}
model {
  array[ts_0] vector[2] z = ode_rk45_tol(slope, z_init, 0, ts, 1e-6, 1e-6, 1000, theta);
  theta ~ normal([1, 0.05, 1, 0.05]', [0.5, 0.05, 0.5, 0.05]');
  sigma ~ lognormal(-1, 1);
  z_init ~ lognormal(log(10), 1);
  for (species in 1 : 2) {
    y_init[species] ~ lognormal(log(z_init[species]), sigma[species]);
    y[ : , species] ~ lognormal(log(z[ : , species]), sigma[species]);
  }
}
