"""The key to the API: where it is found, and how it is kept out of everything that is shown.

`find_key` looks where people put theirs for the client: `ANTHROPIC_API_KEY`, then `ANTHROPIC_AUTH_TOKEN` (a
bearer token, for gateways), then the system's keyring, if the `keyring` package is installed. What the client
keeps for itself is never read.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal, Protocol, cast
from urllib.parse import urlsplit

from clew.errors import ClewError

if TYPE_CHECKING:
    from collections.abc import Mapping

OFFICIAL: Final = "https://api.anthropic.com"
SERVICE: Final = "clew"
"""Under which the key lies in a keyring: `keyring set clew anthropic`."""

ACCOUNT: Final = "anthropic"

_HOW: Final = "set ANTHROPIC_API_KEY, or keep the key in the system's keyring: keyring set clew anthropic"
_SENDABLE: Final = re.compile(r"[\x21-\x7e]+")


class NoKeyError(ClewError):
    """There is no key to the API, or what is there cannot be one."""

    code = "no-key"

    def __init__(self, message: str = "there is no key to the API") -> None:
        super().__init__(message, hint=_HOW)


class BadAddressError(ClewError):
    """What is to be the address of the API is none."""

    code = "bad-address"


@dataclass(frozen=True, slots=True)
class Key:
    """A key to the API. What shows it shows nothing of the secret."""

    secret: str = field(repr=False)
    kind: Literal["api-key", "bearer"] = "api-key"
    source: str = ""
    """Where it was found, for people."""

    @property
    def header(self) -> tuple[str, str]:
        """The header that carries it."""
        if self.kind == "bearer":
            return "authorization", f"Bearer {self.secret}"
        return "x-api-key", self.secret


class Keyring(Protocol):
    """As much of the `keyring` package as is used."""

    def get_password(self, service_name: str, username: str, /) -> str | None:
        """Return the secret that is kept under these names."""
        ...


def find_key(environ: Mapping[str, str], keyring: Keyring | None = None) -> Key:
    """Find the key; without any, say how to give one. A given `keyring` takes the place of the system's."""
    for name, kind in (("ANTHROPIC_API_KEY", "api-key"), ("ANTHROPIC_AUTH_TOKEN", "bearer")):
        secret = environ.get(name, "").strip()
        if secret:
            return _checked(secret, cast("Literal['api-key', 'bearer']", kind), name)
    secret = _from_keyring(keyring)
    if secret:
        return _checked(secret, "api-key", "the keyring")
    raise NoKeyError


def base_url(environ: Mapping[str, str]) -> str:
    """Return the address of the API: `ANTHROPIC_BASE_URL`, or the official one; no slash at its end."""
    given = environ.get("ANTHROPIC_BASE_URL", "").strip()
    return checked_address(given) if given else OFFICIAL


def checked_address(given: str) -> str:
    """Return an address without its last slash, or say what is wrong with it."""
    hint = "an address looks like https://api.anthropic.com"
    try:
        parts = urlsplit(given)
        _ = parts.port  # raises when it is no number
    except ValueError:
        raise BadAddressError("the address of the API cannot be read", hint=hint) from None
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise BadAddressError("the address of the API is no http or https address", hint=hint)
    if parts.username is not None or parts.query or parts.fragment:
        raise BadAddressError("the address of the API has a password, a query or a fragment in it", hint=hint)
    if not _SENDABLE.fullmatch(given):
        raise BadAddressError("the address of the API has signs in it that no address has", hint=hint)
    return given.rstrip("/")


def _checked(secret: str, kind: Literal["api-key", "bearer"], source: str) -> Key:
    if not _SENDABLE.fullmatch(secret):
        # A line end in it, say, would be a header of its own. It is not repeated here: it is a secret still.
        raise NoKeyError(f"what {source} holds cannot be a key: there are spaces or other odd signs in it")
    return Key(secret, kind, source)


def _from_keyring(keyring: Keyring | None) -> str:
    if keyring is None:
        try:
            import keyring as installed  # pyright: ignore[reportMissingImports]  # an extra that may be missing
        except ImportError:
            return ""
        keyring = cast("Keyring", installed)
    try:
        found = keyring.get_password(SERVICE, ACCOUNT)
    except Exception:  # a locked or missing keyring fails in as many ways as there are systems
        return ""
    return (found or "").strip()
