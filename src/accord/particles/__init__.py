"""Move particles through the scan of a model: filters, and filters that keep a reference trajectory."""
