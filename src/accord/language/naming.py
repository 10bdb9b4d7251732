"""Refuse names and labels that no file can hold."""

from ..core.errors import AccordError


def check_text(what: str, text: str, kind: type[AccordError]) -> None:
    """Raise an error of this kind, about `what`, for a text that cannot be written as UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise kind(
            f"{what} {text!r} cannot be written as UTF-8: its character {error.start}, {text[error.start]!r}, is half "
            "of a character (a lone surrogate). It may come from bytes decoded with another encoding, or from a file "
            "name; write it without, as `name.encode('utf-8', 'replace').decode()` does."
        ) from None
