"""Say what to write instead, in the words of the library that a column comes from."""

# {it} is the column as its user has it. Columns of Arrow do not know their names.
_SAID: dict[str, dict[str, str]] = {
    "floats": {
        "pandas": "`{it}.astype(float)`",
        "polars": "`{it}.cast(pl.Float64)`",
        "arrow": "`{it}.cast('float64')`",
        "numpy": "`{it}.astype(float)`",
    },
    "days": {
        "pandas": "`({it} - {it}.min()) / pd.Timedelta(days=1)`",
        "polars": "`({it} - {it}.min()).dt.total_seconds() / 86400`",
        "arrow": "`d = np.asarray({it}); (d - d.min()) / np.timedelta64(1, 'D')`",
        "numpy": "`({it} - {it}.min()) / np.timedelta64(1, 'D')`",
    },
    "duration": {
        "pandas": "`{it} / pd.Timedelta(days=1)`",
        "polars": "`{it}.dt.total_seconds() / 86400`",
        "arrow": "`np.asarray({it}) / np.timedelta64(1, 'D')`",
        "numpy": "`{it} / np.timedelta64(1, 'D')`",
    },
    "parse": {
        "pandas": "`pd.to_numeric({it})`",
        "polars": "`{it}.cast(pl.Float64)`",
        "arrow": "`{it}.cast('float64')`",
        "numpy": "`{it}.astype(float)`",
    },
    "levels": dict.fromkeys(("pandas", "polars", "arrow", "numpy"), "`ac.levels({it})`"),
}
_DROPPED = {"pandas": "df.dropna(subset=[{name!r}])", "polars": "df.drop_nulls({name!r})"}


def say(what: str, library: str, name: str) -> str:
    """Return the words for a remedy; `name` is that of the column in its data frame, or empty."""
    if what == "drop":
        code = f", `df = {_DROPPED[library].format(name=name)}`" if name and library in _DROPPED else ""
        return f"Leave these rows out{code}"
    return _SAID[what][library].format(it=f"df[{name!r}]" if name else "column")
