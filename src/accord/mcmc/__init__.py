"""Move chains: the plan, the compiled programs, and what the host does between blocks."""
