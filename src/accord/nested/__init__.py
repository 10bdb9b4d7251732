"""Shrink the prior to the posterior by live points above a rising likelihood: nested sampling."""
