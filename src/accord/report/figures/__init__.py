"""Turn arrays into figures: marks that one file writes as SVG."""
