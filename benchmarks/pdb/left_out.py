"""Name the models of the database that are not run, each with the reason in one sentence."""

LEFT_OUT: dict[str, str] = {}
