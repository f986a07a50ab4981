"""Lines of session files for these tests, and files made of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

ONE = "11111111-1111-4111-8111-111111111111"
TWO = "22222222-2222-4222-8222-222222222222"
THREE = "33333333-3333-4333-8333-333333333333"

CORPUS = Path(__file__).parent.parent / "data" / "corpus"
MADE = Path(__file__).parent.parent / "data" / "made"


def line(number: int = 1, *, session: str = ONE, **fields: Any) -> bytes:
    """A line as a client writes it; `fields` change or add to it."""
    entry: dict[str, Any] = {
        "type": "user" if number % 2 else "assistant",
        "uuid": f"line-{number}",
        "sessionId": session,
        "cwd": "/home/ada/lighthouse",
        "version": "2.1.325",
        "timestamp": f"2026-03-04T09:{number // 60 % 60:02}:{number % 60:02}.000Z",
        "message": {"role": "user", "content": f"the lamp, {number}"},
    }
    entry.update(fields)
    return json.dumps({key: value for key, value in entry.items() if value is not None}).encode() + b"\n"


def lines(count: int, *, start: int = 1, session: str = ONE) -> bytes:
    """Some lines one after another."""
    return b"".join(line(number, session=session) for number in range(start, start + count))


def put(path: Path, data: bytes | Iterable[bytes] = b"") -> Path:
    """Write a file and the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data if isinstance(data, bytes) else b"".join(data))
    return path
