"""Where traces go: an address, what it wants in its headers, and how it can be asked what it has.

Headers are secrets. They are in no text that an endpoint gives of itself, and nothing of them goes into its
key, by which the ledger knows it.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal, TypedDict, Unpack
from urllib.parse import parse_qsl, unquote, urlsplit

from clew.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from urllib.parse import SplitResult

Backend = Literal["otlp", "langfuse", "phoenix"]

SERVICE: Final = "claude-code"
PROJECT: Final = "openinference.project.name"
"""The attribute of the resource by which Phoenix knows the project."""

_SECRET: Final = re.compile(r"(?i)key|token|secret|pass|auth|sig|credential")
_TENANTS: Final = frozenset(
    {"x-mlflow-experiment-id", "x-scope-orgid", "x-honeycomb-dataset", "x-p-stream", "stream-name"}
)
"""Headers that are no secrets and say where in a backend the spans go."""

_SHORTEST: Final = 6
"""No part of a header that is shorter is taken for a secret: it would be struck out of any text."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One place that takes traces."""

    url: str
    """The address for traces, used as it is."""

    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    service: str = SERVICE
    backend: Backend = "otlp"
    project: str | None = None
    """The project of Phoenix the spans go to; of Langfuse the public key, which names its project."""

    certificate: str | None = None
    """A file with the certificates that vouch for it, beside those of the system."""

    name: str | None = None
    """What a person calls it."""

    def __post_init__(self) -> None:
        parts = _split(self.url)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise UsageError(
                "an endpoint is an address that begins with http:// or https://",
                hint="--endpoint http://localhost:4318/v1/traces",
            )

    @property
    def label(self) -> str:
        """The address without anything that may be secret."""
        parts = _split(self.url)
        host = parts.hostname or ""
        host = f"[{host}]" if ":" in host else host
        port = f":{parts.port}" if parts.port else ""
        return f"{parts.scheme}://{host}{port}{parts.path or '/'}"

    @property
    def key(self) -> str:
        """What the ledger knows it by: the same for the same place, whatever its passwords are."""
        query = [
            (name, value)
            for name, value in parse_qsl(_split(self.url).query, keep_blank_values=True)
            if not _SECRET.search(name)
        ]
        tenants = sorted(
            (name.lower(), value) for name, value in self.headers.items() if name.lower() in _TENANTS
        )
        told = repr((self.label, query, self.service, self.project or "", tenants))
        return hashlib.sha256(told.encode("utf-8", "surrogatepass")).hexdigest()[:32]

    @property
    def all_headers(self) -> dict[str, str]:
        """The headers, and the user that the address names."""
        parts = _split(self.url)
        if not parts.username or _has(self.headers, "authorization"):
            return dict(self.headers)
        pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}".encode()
        return {**self.headers, "Authorization": f"Basic {base64.b64encode(pair).decode('ascii')}"}

    @property
    def uses_labels(self) -> bool:
        """Whether spans go by their labels: Langfuse shows the model, not `chat {model}`."""
        return self.backend == "langfuse"

    @property
    def resource(self) -> dict[str, str]:
        """What is told of the resource beside its service."""
        return {PROJECT: self.project} if self.backend == "phoenix" and self.project else {}

    @property
    def base(self) -> str:
        """The address of the backend itself, where it can be asked."""
        ending = "/api/public/otel/v1/traces" if self.backend == "langfuse" else "/v1/traces"
        return self.url.partition("?")[0].rstrip("/").removesuffix(ending)

    def masked(self, text: str) -> str:
        """Return a text, such as a server's answer, without this endpoint's secrets."""
        for secret in sorted(self._secrets(), key=len, reverse=True):
            text = text.replace(secret, "***")
        return text

    def _secrets(self) -> set[str]:
        parts = _split(self.url)
        found = {unquote(one) for one in (parts.password, parts.username, parts.query) if one}
        found |= {value for _, value in parse_qsl(parts.query)}
        for name, value in self.headers.items():
            if name.lower() in _TENANTS or name.lower().startswith("x-langfuse-"):
                continue
            found |= {value, *value.split()}
            for word in value.split():
                try:
                    plain = base64.b64decode(word, validate=True).decode()
                except (binascii.Error, ValueError):
                    continue
                found |= {plain, *plain.split(":")}
        return {one for one in found if len(one) >= _SHORTEST and one not in {"Bearer", "bearer", "Basic"}}


def _split(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        _ = parts.port, parts.hostname
    except ValueError:
        raise UsageError("the endpoint's address makes no sense") from None
    return parts


class Common(TypedDict, total=False):
    """What every kind of endpoint may have."""

    headers: Mapping[str, str]
    service: str
    certificate: str | None
    name: str | None


def otlp(url: str, **common: Unpack[Common]) -> Endpoint:
    """Return a plain endpoint: a collector, or a backend that nothing is known of."""
    return Endpoint(url, **common)


def langfuse(
    host: str, public: str | None, secret: str | None, *, is_whole: bool = False, **common: Unpack[Common]
) -> Endpoint:
    """Return an endpoint of Langfuse; `host` is where it is, or with `is_whole` the address for traces."""
    url = host if is_whole else f"{host.rstrip('/')}/api/public/otel/v1/traces"
    headers = dict(common.get("headers", {}))
    if public and secret and not _has(headers, "authorization"):
        pair = base64.b64encode(f"{public}:{secret}".encode()).decode("ascii")
        headers["Authorization"] = f"Basic {pair}"
    if not _has(headers, "x-langfuse-ingestion-version"):
        # Without it what is sent is seen some minutes later.
        headers["x-langfuse-ingestion-version"] = "4"
    common["headers"] = headers
    return Endpoint(url, **common, backend="langfuse", project=public or _user(headers))


def phoenix(
    url: str,
    api_key: str | None = None,
    *,
    project: str | None = None,
    is_whole: bool = False,
    **common: Unpack[Common],
) -> Endpoint:
    """Return an endpoint of Phoenix; `url` is where it is, or with `is_whole` the address for traces."""
    headers = dict(common.get("headers", {}))
    if api_key and not _has(headers, "authorization"):
        headers["Authorization"] = f"Bearer {api_key}"
    if not is_whole and not url.rstrip("/").endswith("/v1/traces"):
        url = f"{url.rstrip('/')}/v1/traces"
    common["headers"] = headers
    return Endpoint(url, **common, backend="phoenix", project=project)


def _has(headers: Mapping[str, str], name: str) -> bool:
    return any(one.lower() == name for one in headers)


def _user(headers: Mapping[str, str]) -> str | None:
    """Return the public key of a header that was made by somebody else."""
    for name, value in headers.items():
        if name.lower() == "authorization" and value.startswith("Basic "):
            try:
                return base64.b64decode(value[6:], validate=True).decode().partition(":")[0] or None
            except (binascii.Error, ValueError):
                return None
    return None
