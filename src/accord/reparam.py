"""Offer the ways to reparameterise a site, for `handlers.reparam`, and `propose`, which suggests them for a model."""

from typing import TYPE_CHECKING, Any

from .core.names import refusal
from .core.tracebacks import entry_point
from .language import reparam as _ways

if TYPE_CHECKING:
    from .centring.proposal import Proposal as Proposal
    from .centring.propose import propose as propose
    from .density.neutra import Neutra as Neutra
    from .language.reparam import *  # noqa: F403

__all__ = sorted([*_ways.__all__, "Neutra", "Proposal", "propose"])  # pyright: ignore

_refuse = refusal(__name__)


@entry_point
def __getattr__(name: str) -> Any:
    if name in _ways.__all__:  # pyright: ignore
        return getattr(_ways, name)
    if name == "Neutra":
        from .density.neutra import Neutra

        return Neutra
    if name == "propose":
        from .centring.propose import propose

        return propose
    if name == "Proposal":
        from .centring.proposal import Proposal

        return Proposal
    return _refuse(name)


def __dir__() -> list[str]:
    return __all__
