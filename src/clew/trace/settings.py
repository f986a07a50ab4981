"""Which endpoints a person configured: by flags, by the environment, or in `clew/trace.toml`.

Flags stand for themselves. Without any, what the environment and the file name is taken together. The file
holds one table for each endpoint:

    content = true                      # false: only that something was said and done, and when
    redact = true                       # false: secrets are sent as they are

    [[endpoint]]
    url = "http://localhost:4318/v1/traces"
    headers = { Authorization = "Bearer ${TOKEN}" }     # of the environment

    [[endpoint]]
    backend = "langfuse"
    url = "https://cloud.langfuse.com"
    public_key = "pk-…"
    secret_key = "${LANGFUSE_SECRET_KEY}"

    [[endpoint]]
    backend = "phoenix"
    url = "http://localhost:6006"
    project = "sessions"
"""

from __future__ import annotations

import os
import re
import sys
import tomllib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast
from urllib.parse import unquote

from clew.errors import ClewError, UsageError
from clew.trace import endpoints
from clew.trace.endpoints import SERVICE, Backend, Common, Endpoint

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

CLOUD: Final = "https://cloud.langfuse.com"
_TRACES: Final = "/v1/traces"
_LARGEST: Final = 1 << 20
_KEYS: Final = frozenset(
    {
        "api_key", "backend", "certificate", "headers", "name", "project", "public_key", "secret_key",
        "service", "url",
    }
)  # fmt: skip
_VARIABLE: Final = re.compile(r"\$\{(\w+)\}")


class SettingsError(ClewError):
    """The configuration cannot be read, or says something that makes no sense."""

    code = "settings"


@dataclass(frozen=True, slots=True)
class Settings:
    """Where traces go, and what of a session they hold."""

    endpoints: tuple[Endpoint, ...] = ()
    content: bool = True
    redact: bool = True
    notes: tuple[str, ...] = ()
    """What a person should know, such as why a variable counts for nothing."""


def read_settings(environ: Mapping[str, str], *, path: Path | None = None) -> Settings:
    """Return what the environment and the configuration file say, each endpoint once."""
    found = _from_file(path or settings_path(environ), environ)
    named, notes = _from_environment(environ)
    by_key = {one.key: one for one in (*found.endpoints, *named)}
    return replace(found, endpoints=tuple(by_key.values()), notes=(*found.notes, *notes))


def settings_path(environ: Mapping[str, str], *, platform: str = sys.platform) -> Path:
    """Return where the configuration lies; it need not be there."""
    named = environ.get("XDG_CONFIG_HOME", "")
    home = Path(environ.get("HOME") or Path("~").expanduser())
    if named and Path(named).is_absolute():
        folder = Path(named)
    elif platform == "win32":
        folder = Path(environ.get("APPDATA") or home / "AppData" / "Roaming")
    else:
        folder = home / ".config"
    return folder / "clew" / "trace.toml"


def from_flags(
    urls: Sequence[str],
    *,
    headers: Sequence[str] = (),
    service: str | None = None,
    backend: Backend | None = None,
    environ: Mapping[str, str] | None = None,
) -> tuple[Endpoint, ...]:
    """Return the endpoints that flags name: full addresses, with headers `K=V` for all of them.

    Keys that flags do not tell are taken from the variables of the backend, as its own tools do.
    """
    variables = environ or {}
    given: dict[str, str] = {}
    for header in headers:
        name, equals, value = header.partition("=")
        if not equals or not _is_token(name.strip()):
            raise UsageError("a header is given as K=V", hint="--header Authorization='Bearer …'")
        given[name.strip()] = value.strip()
    made: list[Endpoint] = []
    for url in urls:
        kind = backend or _guessed(url)
        common: Common = {
            "headers": given,
            "service": service or variables.get("OTEL_SERVICE_NAME") or SERVICE,
        }
        match kind:
            case "langfuse":
                keys = (variables.get("LANGFUSE_PUBLIC_KEY"), variables.get("LANGFUSE_SECRET_KEY"))
                one = endpoints.langfuse(url, *keys, **common, is_whole=True)
            case "phoenix":
                one = endpoints.phoenix(
                    url,
                    variables.get("PHOENIX_API_KEY"),
                    project=variables.get("PHOENIX_PROJECT_NAME"),
                    is_whole=True,
                    **common,
                )
            case _:
                one = endpoints.otlp(url, **common)
        made.append(_checked(one))
    return tuple({one.key: one for one in made}.values())


def _guessed(url: str) -> Backend:
    return "langfuse" if url.partition("?")[0].rstrip("/").endswith("/api/public/otel/v1/traces") else "otlp"


def _from_environment(environ: Mapping[str, str]) -> tuple[list[Endpoint], list[str]]:
    found: list[Endpoint] = []
    notes: list[str] = []
    service = environ.get("OTEL_SERVICE_NAME") or SERVICE
    for make in (_otlp, _langfuse, _phoenix):
        try:
            one = make(environ, service, notes)
            if one is not None:
                found.append(_checked(one))
        except UsageError as error:
            notes.append(f"{make.__name__.strip('_').upper()} variables: {error.message}")
    return found, notes


def _otlp(environ: Mapping[str, str], service: str, notes: list[str]) -> Endpoint | None:
    whole = environ.get("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "").strip()
    base = environ.get("OTEL_EXPORTER_OTLP_ENDPOINT", "").strip()
    if not whole and not base:
        return None
    if environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        notes.append("OTEL_SDK_DISABLED is set: the endpoint of the OTEL variables counts for nothing")
        return None
    protocol = _first(environ, "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
    if protocol == "grpc":
        notes.append("OTEL_EXPORTER_OTLP_PROTOCOL is grpc, which clew does not speak; http/protobuf it does")
        return None
    text = _first(environ, "OTEL_EXPORTER_OTLP_TRACES_HEADERS", "OTEL_EXPORTER_OTLP_HEADERS")
    certificate = _first(environ, "OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE", "OTEL_EXPORTER_OTLP_CERTIFICATE")
    url = whole or f"{base.rstrip('/')}{_TRACES}"
    headers = _headers(text, notes)
    if _guessed(url) == "langfuse":
        return endpoints.langfuse(
            url, None, None, headers=headers, service=service, certificate=certificate or None, is_whole=True
        )
    return endpoints.otlp(url, headers=headers, service=service, certificate=certificate or None)


def _langfuse(environ: Mapping[str, str], service: str, notes: list[str]) -> Endpoint | None:
    public, secret = environ.get("LANGFUSE_PUBLIC_KEY"), environ.get("LANGFUSE_SECRET_KEY")
    host = _first(environ, "LANGFUSE_BASE_URL", "LANGFUSE_HOST")
    if not public and not secret:
        return None
    if not public or not secret:
        missing = "LANGFUSE_SECRET_KEY" if public else "LANGFUSE_PUBLIC_KEY"
        notes.append(f"{missing} is not set: nothing is sent to Langfuse")
        return None
    return endpoints.langfuse(host or CLOUD, public, secret, service=service)


def _phoenix(environ: Mapping[str, str], service: str, notes: list[str]) -> Endpoint | None:
    url = environ.get("PHOENIX_COLLECTOR_ENDPOINT", "").strip()
    if not url:
        return None
    headers = _headers(environ.get("PHOENIX_CLIENT_HEADERS", ""), notes)
    key, project = environ.get("PHOENIX_API_KEY"), environ.get("PHOENIX_PROJECT_NAME")
    return endpoints.phoenix(url, key, project=project, headers=headers, service=service)


def _first(environ: Mapping[str, str], *names: str) -> str:
    return next((value for name in names if (value := environ.get(name, "").strip())), "")


def _headers(text: str, notes: list[str]) -> dict[str, str]:
    """Read `k=v,k2=v2`, in which both may be escaped as in addresses."""
    found: dict[str, str] = {}
    for part in text.split(","):
        name, equals, value = part.partition("=")
        name = unquote(name.strip())
        if not part.strip():
            continue
        if not equals or not _is_token(name):
            notes.append("a part of the variable for headers is not of the form K=V and is left out")
            continue
        found[name] = unquote(value.strip())
    return found


# --- the file -----------------------------------------------------------------------------------------------


def _from_file(path: Path, environ: Mapping[str, str]) -> Settings:
    try:
        with path.open("rb") as file:
            stat = os.fstat(file.fileno())
            if stat.st_size > _LARGEST:
                raise SettingsError(f"{path} is too large")
            data = tomllib.loads(file.read(_LARGEST).decode())
    except FileNotFoundError:
        return Settings()
    except OSError as error:
        raise SettingsError(f"{path} cannot be read: {error.strerror or error}") from None
    except ValueError:
        # The parser's own words may quote a line, and with it a secret.
        raise SettingsError(f"{path} is no TOML file") from None
    listed: object = data.get("endpoint", [])
    if not isinstance(listed, list):
        raise SettingsError(f"{path}: [[endpoint]] is a list of tables")
    found: list[Endpoint] = []
    for number, one in enumerate(cast("list[object]", listed), 1):
        try:
            found.append(_checked(_table(one, environ)))
        except ClewError as error:
            raise SettingsError(f"{path}: endpoint {number}: {error.message}") from None
    flags: dict[str, bool] = {}
    for name in ("content", "redact"):
        value = data.get(name, True)
        if not isinstance(value, bool):
            raise SettingsError(f"{path}: {name} is true or false")
        flags[name] = value
    is_open = os.name == "posix" and bool(stat.st_mode & 0o044) and any(one.headers for one in found)
    notes = (f"{path} may be read by others, and holds headers: chmod 600",) if is_open else ()
    return Settings(tuple(found), flags["content"], flags["redact"], notes)


def _table(value: object, environ: Mapping[str, str]) -> Endpoint:
    if not isinstance(value, dict):
        raise UsageError("it is no table")
    table = cast("dict[str, object]", value)
    if unknown := sorted(table.keys() - _KEYS):
        raise UsageError(f"there is no setting {', '.join(unknown)}")
    texts = {name: _text(name, table[name], environ) for name in table if name != "headers"}
    listed = table.get("headers", {})
    if not isinstance(listed, dict):
        raise UsageError("headers is a table")
    headers = {name: _text(name, one, environ) for name, one in cast("dict[str, object]", listed).items()}
    backend = texts.get("backend", "otlp")
    common: Common = {
        "headers": headers,
        "service": texts.get("service") or environ.get("OTEL_SERVICE_NAME") or SERVICE,
        "certificate": texts.get("certificate"),
        "name": texts.get("name"),
    }
    url = texts.get("url", "")
    whole = url.partition("?")[0].rstrip("/").endswith(_TRACES)
    match backend:
        case "langfuse":
            keys = texts.get("public_key"), texts.get("secret_key")
            return endpoints.langfuse(url or CLOUD, *keys, is_whole=whole, **common)
        case "phoenix":
            key, project = texts.get("api_key"), texts.get("project")
            return endpoints.phoenix(url, key, project=project, is_whole=whole, **common)
        case "otlp":
            return endpoints.otlp(url, **common)
        case _:
            raise UsageError("backend is otlp, langfuse or phoenix")


def _text(name: str, value: object, environ: Mapping[str, str]) -> str:
    if not isinstance(value, str):
        raise UsageError(f"{name} is a text")

    def variable(match: re.Match[str]) -> str:
        found = environ.get(match.group(1))
        if found is None:
            raise UsageError(f"{name} names the variable {match.group(1)}, which is not set")
        return found

    return _VARIABLE.sub(variable, value)


def _checked(one: Endpoint) -> Endpoint:
    """Refuse headers that would be others on the wire."""
    for name, value in one.headers.items():
        if not _is_token(name) or re.search(r"[\r\n\0]", value) or not _is_latin(value):
            raise UsageError("a header has characters that no header may have")
    return one


def _is_token(name: str) -> bool:
    return bool(re.fullmatch(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", name))


def _is_latin(value: str) -> bool:
    try:
        value.encode("latin-1")
    except UnicodeEncodeError:
        return False
    return True
