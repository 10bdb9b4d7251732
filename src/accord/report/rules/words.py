"""Put shares and lists of chains into words."""

from collections.abc import Sequence

import numpy as np

from ..evidence import Evidence

_MOST_FORMS = 3
_MOST_SITES = 4


def percent(share: float) -> str:
    """Write a share of draws as a percentage."""
    return f"{100 * share:.1f}%" if share >= 0.001 else "less than 0.1%"


def chain_list(run: Evidence, places: Sequence[int] | np.ndarray) -> str:
    """List chains by number, for the beginning of a sentence; `places` are their indices in the arrays."""
    numbers = ", ".join(str(run.chains[place]) for place in places)
    return f"Chain {numbers}" if len(places) == 1 else f"Chains {numbers}"


def site_list(names: Sequence[str]) -> str:
    """List sites by name; of many, the first ones."""
    shown = ", ".join(map(repr, names[:_MOST_SITES]))
    return shown if len(names) <= _MOST_SITES else f"{shown} and {len(names) - _MOST_SITES} more"


def by_chain(run: Evidence, counts: np.ndarray) -> str:
    """List the counts, shape `(chain,)`, of chains that have any."""
    return ", ".join(f"{int(n)} in chain {chain}" for chain, n in zip(run.chains, counts, strict=True) if n)


def non_centred(run: Evidence, name: str) -> str:
    """Write the calls that non-centre the sites with scale `name`, around the model or a step; empty without any."""
    forms = run.scaled_by.get(name, ())
    if not forms:
        return ""
    forms = forms[:_MOST_FORMS]
    sites = ", ".join(repr(form.site) for form in forms)
    around_model = ", ".join(form.config for form in forms if not form.is_in_steps)
    around_step = ", ".join(form.config for form in forms if form.is_in_steps)
    calls = [f"`handlers.reparam(model, {{{around_model}}})`"] if around_model else []
    calls += [f"`ac.scan(handlers.reparam(step, {{{around_step}}}), ...)`"] if around_step else []
    return (
        f"{name!r} sets the scale of {sites}, whose posterior narrows with it like a funnel: reparameterise by "
        f"{' and '.join(calls)}"
    )


def moving_between_modes(run: Evidence) -> str:
    """Name the line that moves between modes."""
    if run.temperatures is not None:
        return f"take more rungs than {run.temperatures.shape[1]}, `infer.Tempered(temperatures=...)`, or more draws"
    kernel = "infer.Tempered()"
    if run.discrete:
        blocks = ", ".join(f"{name!r}: infer.DiscreteGibbs()" for name in sorted(run.discrete))
        kernel = f"infer.Tempered(infer.Gibbs({{{blocks}, ...: infer.NUTS()}}))"
    if run.flat:
        return f"give {site_list(sorted(run.flat))} a proper prior, with which `{kernel}` moves between modes"
    return f"sample by `infer.sample(model, {kernel})`, which moves between modes if every prior is proper"
