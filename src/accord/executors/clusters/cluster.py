"""Check requirements of cluster executors: an installed package, and a safe address."""

import importlib.util
import ipaddress
import re
from importlib import metadata

from ...core.errors import OptionError

_ENCRYPTED = ("tls", "wss", "inproc")


def require(package: str, executor: str, extra: str, least: tuple[int, int]) -> None:
    """Raise `OptionError` if a required package is not installed, or is older than `least`."""
    remedy = f'pip install "accord[{extra}]".'
    if importlib.util.find_spec(package) is None:
        raise OptionError(
            f"executor={executor}() needs the package {package}, which is not installed: {remedy}"
        )
    found = metadata.version(package)
    if tuple(int(part) for part in re.findall(r"\d+", found)[:2]) < least:
        wanted = ".".join(map(str, least))
        raise OptionError(
            f"executor={executor}() needs {package} >= {wanted}, and {found} is installed: {remedy}"
        )


def check_address(executor: str, address: str, *, insecure: bool) -> None:
    """Raise `OptionError` for an address of another machine, unless it is encrypted or `insecure` is set."""
    if not address.strip():
        raise OptionError(f'{executor}: address is empty; give one such as "tcp://127.0.0.1:8786", or None.')
    scheme, separator, rest = address.rpartition("://")
    host = rest.rpartition(":")[0] if ":" in rest else rest
    if insecure or (separator and scheme in _ENCRYPTED) or is_loopback(host.strip("[]")):
        return
    raise OptionError(
        f"{executor}: {address!r} is another machine, over a connection that is neither encrypted nor authenticated. "
        "The model and its data would travel unencrypted, and such a cluster runs any code from anyone who "
        f"reaches it. Encrypt it (tls://), or declare its network trusted: {executor}({address!r}, insecure=True)."
    )


def is_loopback(host: str) -> bool:
    """Return whether a host is a loopback address, which no other machine reaches; names are not resolved."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
