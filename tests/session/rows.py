"""Small sessions by their bare lines, where the tests of the graph need lines no client would write."""

from __future__ import annotations

import json

from clew.session.session import Session


def line(uuid: str | None = None, parent: str | None = None, **fields: object) -> bytes:
    """One record: a line under the user's role unless `fields` say otherwise."""
    data: dict[str, object] = {"parentUuid": parent, "type": "user", "timestamp": "2026-01-01T00:00:00.000Z"}
    if uuid is not None:
        data["uuid"] = uuid
    if fields.get("type", "user") in {"user", "assistant"}:
        data["message"] = {"role": fields.get("type", "user"), "content": "words"}
    return json.dumps(data | fields, separators=(",", ":")).encode() + b"\n"


def session(*lines: bytes) -> Session:
    """Read some lines as one session."""
    return Session.read(b"".join(lines), name="s")


def boundary(uuid: str, follows: str | None = None, parent: str | None = None, **fields: object) -> bytes:
    """A compaction."""
    return line(uuid, parent, type="system", subtype="compact_boundary", logicalParentUuid=follows, **fields)
