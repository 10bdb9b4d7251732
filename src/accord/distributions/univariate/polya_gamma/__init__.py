"""The Polya-Gamma distribution."""
