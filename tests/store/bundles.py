"""Bundles for tests, made by Python's own `tarfile`: sound ones, and ones with anything wrong in them."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
from typing import TYPE_CHECKING, Any, Final, Literal

from backports import zstd

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SESSION: Final = "0a1b2c3d-0000-4000-8000-000000000001"
FOLDER: Final = "-home-ada-lighthouse"
PROJECT: Final = f"projects/{FOLDER}"
MAIN: Final = f"{PROJECT}/{SESSION}.jsonl"
LINE: Final = (
    b'{"type":"user","uuid":"u1","parentUuid":null,"cwd":"/home/ada/lighthouse","sessionId":"%s"}\n'
    % (SESSION.encode())
)
FILES: Final[dict[str, bytes]] = {
    f"file-history/{SESSION}/0123456789abcdef@v1": bytes(range(256)),
    f"{PROJECT}/{SESSION}/subagents/agent-a1.jsonl": LINE,
    f"{PROJECT}/{SESSION}/tool-results/toolu_1.txt": b"long\n" * 300,
    f"todos/{SESSION}-agent-{SESSION}.json": b"[]",
    MAIN: LINE * 3,
}
"""The session's own file is the last."""

_KINDS: Final = {
    MAIN: "session",
    f"{PROJECT}/{SESSION}/subagents/agent-a1.jsonl": "agent",
}


def row(place: str, data: bytes, **other: Any) -> dict[str, Any]:
    """What a manifest says of a file."""
    return {
        "place": place,
        "kind": _KINDS.get(place, "other"),
        "size": len(data),
        "mtime_ns": 1_790_000_000_123_456_789,
        "mode": 0o600,
        "sha256": hashlib.sha256(data).hexdigest(),
        **other,
    }


def manifest(held: Mapping[str, bytes] = FILES, **other: Any) -> dict[str, Any]:
    """What a bundle says of itself."""
    return {
        "clew-bundle": 1,
        "made_by": "a test",
        "redacted": False,
        "session": SESSION,
        "base": "/home/ada/.claude",
        "in_store": True,
        "folder": FOLDER,
        "archived_ms": 1_790_000_000_000,
        "cwd": "/home/ada/lighthouse",
        "files": [row(place, data) for place, data in held.items()],
        **other,
    }


def member(
    name: str, data: bytes = b"", *, kind: bytes = tarfile.REGTYPE, **other: Any
) -> tuple[tarfile.TarInfo, bytes]:
    """A file on a tape, or something else."""
    info = tarfile.TarInfo(name)
    info.size, info.type, info.mode = len(data), kind, 0o600
    for key, value in other.items():
        setattr(info, key, value)
    return info, data


def tape(
    members: Sequence[tuple[tarfile.TarInfo, bytes]],
    *,
    form: Literal[0, 1, 2] = 2,
    end: bytes = bytes(1024),
) -> bytes:
    """A tape with just these members."""
    out = bytearray()
    for info, data in members:
        out += info.tobuf(form) + data + bytes(-len(data) % 512)
    return bytes(out) + end


def squeezed(data: bytes) -> bytes:
    """The same, compressed."""
    return zstd.compress(data)


def bundle(
    about: Mapping[str, Any] | bytes | None = None,
    members: Sequence[tuple[tarfile.TarInfo, bytes]] | None = None,
    **other: Any,
) -> bytes:
    """A bundle; without a word on what is in it, a sound one."""
    given = manifest() if about is None else about
    data = given if isinstance(given, bytes) else json.dumps(given).encode()
    files = [member(place, one) for place, one in FILES.items()] if members is None else members
    return squeezed(tape([member("manifest.json", data), *files], **other))


def with_file(place: str, data: bytes = b"x", **other: Any) -> bytes:
    """A bundle with one more file, which is in the manifest too."""
    files = {place: data, **FILES}
    rows = [row(name, one, **(other if name == place else {})) for name, one in files.items()]
    return bundle(manifest(files, files=rows), [member(name, one) for name, one in files.items()])


def listed(data: bytes) -> dict[str, bytes]:
    """What `tarfile` finds in a bundle, in order."""
    with tarfile.open(fileobj=io.BytesIO(zstd.decompress(data))) as found:
        return {info.name: _read(found, info) for info in found}


def _read(found: tarfile.TarFile, info: tarfile.TarInfo) -> bytes:
    opened = found.extractfile(info)
    assert opened is not None
    return opened.read()
