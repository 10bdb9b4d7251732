"""Look up another library's word for an error message."""

from collections.abc import Iterable

from .distributions import DISTRIBUTIONS
from .names import NAMES
from .options import OPTIONS
from .parameters import PARAMETERS
from .word import Word

WORDS: tuple[Word, ...] = (*OPTIONS, *PARAMETERS, *DISTRIBUTIONS, *NAMES)

_ENDINGS = ("_lpdf", "_lpmf", "_lupdf", "_lupmf", "_lcdf", "_lccdf", "_rng")  # of Stan's density functions


def for_argument(owner: str, name: str, known: Iterable[str]) -> str:
    """Return a hint, with a leading space, on an argument that `owner` (`infer.sample`, `dist.Normal`) does not have.

    It is empty if no library uses the name. `known`: the arguments that `owner` has.
    """
    is_family = owner.startswith("dist.")
    rows = PARAMETERS if is_family else OPTIONS
    found = [word for word in rows if word.theirs == name and (not is_family or word.where in (owner, ""))]
    if not found:
        return ""
    word = next((word for word in found if word.where == owner), found[0])
    if not word.where:
        return _sentence(word, word.code.replace("dist.Normal(0, 1)", f"{owner}(...)"))
    return _sentence(word, word.ours if word.ours.partition("=")[0] in {*known} else word.code)


def for_name(name: str, families: Iterable[str] = ()) -> str:
    """Return a hint on a name that a module does not have; `families` are the known distributions."""
    for word in (*NAMES, *DISTRIBUTIONS):
        if word.kind != "attribute" and _plain(word.theirs) == _plain(name):
            return _sentence(word, word.code)
    ours = _density(name, families)
    if ours:
        return _sentence(Word("Stan", "distribution", name, ours), ours)
    if name in families:
        return f" It is a distribution: write `dist.{name}`, after `import accord.distributions as dist`."
    return ""


def for_attribute(name: str) -> str:
    """Return a hint on an attribute that a run's result does not have."""
    words = [word for word in NAMES if word.theirs == name and word.kind == "attribute"]
    return _sentence(words[0], words[0].code) if words else ""


def _density(name: str, families: Iterable[str]) -> str:
    """Return accord's code for one of Stan's density functions; empty for other names."""
    stem = next((name.removesuffix(ending) for ending in _ENDINGS if name.endswith(ending)), None)
    if stem is None:
        return ""
    ours = {_plain(family): f"dist.{family}" for family in families}
    ours |= {_plain(word.theirs): word.ours for word in DISTRIBUTIONS if word.library == "Stan"}
    found = ours.get(_plain(stem), "")
    return found and f"{found if '(' in found else f'{found}(...)'}.log_prob(value)"


def _plain(name: str) -> str:
    """Normalise a name: users mix up capitals and underscores."""
    return name.replace("_", "").lower()


def _sentence(word: Word, code: str) -> str:
    if not code:
        return f" There is nothing like {word.library}'s `{word.theirs}` here yet."
    same = f" {word.library}'s `{word.theirs}` is `{code}` here."
    return f"{same} {word.note}" if word.note else same
