"""Make session files as bad as they come: real ones, damaged in bytes, lines, values and in their graph."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, cast

from tests.fuzz.lines import corpus, files, nested

if TYPE_CHECKING:
    from random import Random

_LONGEST = 60


def damaged_file(random: Random) -> bytes:
    """Make one damaged session file of a few dozen lines."""
    lines = _stretch(random)
    for mutate in (_graph, _lines, _values):
        if random.random() < 0.6:
            mutate(random, lines)
    for at in range(len(lines)):
        if random.random() < 0.25:
            lines[at] = _bytes(random, lines[at])
    ending = random.choice((b"\n", b"\n", b"\n", b"\r\n"))
    data = ending.join(lines) + random.choice((ending, ending, b""))
    if random.random() < 0.05:
        data = b"\xef\xbb\xbf" + data
    return _bytes(random, data) if random.random() < 0.1 else data


def _stretch(random: Random) -> list[bytes]:
    """Take some lines of one real file, or lines of anywhere."""
    if random.random() < 0.15:
        return [random.choice(corpus()) for _ in range(random.randrange(1, _LONGEST))]
    lines = random.choice(files()).read_bytes().split(b"\n")
    lines = [line for line in lines if len(line) < 40_000]
    start = random.randrange(max(1, len(lines) - 5)) if random.random() < 0.3 else 0
    return lines[start : start + random.randrange(5, _LONGEST)] or [nested(random)]


# In the graph -------------------------------------------------------------------------------------


def _graph(random: Random, lines: list[bytes]) -> None:
    entries = [_decoded(line) for line in lines]
    ids = [entry["uuid"] for entry in entries if entry and isinstance(entry.get("uuid"), str)]
    if not ids:
        return
    for at, entry in enumerate(entries):
        if entry is None or random.random() > 0.25:
            continue
        for name in ("parentUuid", "uuid", "logicalParentUuid", "leafUuid", "messageId"):
            if name in entry and random.random() < 0.4:
                entry[name] = random.choice([*ids[:50], entry.get("uuid"), None, "missing", "", 5])
        message = entry.get("message")
        if isinstance(message, dict) and "id" in message and random.random() < 0.1:
            message["id"] = random.choice(("msg_one", "msg_two", None))
        lines[at] = _encoded(entry)


# In the order of lines ------------------------------------------------------------------------------


def _lines(random: Random, lines: list[bytes]) -> None:
    for _ in range(random.randrange(1, 6)):
        at = random.randrange(len(lines))
        match random.randrange(7):
            case 0:
                lines.insert(at, lines[random.randrange(len(lines))])
            case 1 if len(lines) > 1:
                del lines[at]
            case 2:
                other = random.randrange(len(lines))
                lines[at], lines[other] = lines[other], lines[at]
            case 3 if len(lines) > 1:
                lines[at : at + 2] = [b"".join(lines[at : at + 2])]
            case 4:
                lines.insert(at, nested(random))
            case 5:
                random.shuffle(lines)
            case _:
                lines.insert(at, random.choice(_ODD_LINES))


_ODD_LINES = (
    b"",
    b" \t",
    b"\x0c",
    b"null",
    b"[]",
    b'"text"',
    b"{}",
    b"\0" * 300,
    b"[" * 3000,
    b'{"a":' * 1500,
    b'{"type":"user","uuid":"deep","x":' + b"[" * 990 + b"]" * 990 + b"}",
    b'{"type":"user","uuid":"self","parentUuid":"self","message":{"role":"user","content":"x"}}',
    b'{"type":"user","type":"assistant","uuid":"twice","message":{"content":[]},"message":null}',
    b'{"type":"user","uuid":"nan","n":NaN,"timestamp":"2026-01-01T00:00:00.000Z"}',
    b'{"type":"assistant","uuid":"big","n":' + b"9" * 5000 + b',"m":1e999}',
    b'{"type":"user","uuid":"half","message":{"role":"user","content":"\\ud83d"}}',
    b'{"type":"last-prompt","leafUuid":"missing","explicit":true}',
    b'{"type":"summary","summary":7,"leafUuid":{}}',
    b'{"type":"system","subtype":"compact_boundary","uuid":"cut","parentUuid":null,"logicalParentUuid":"cut"}',
    b'{"message":{"role":"user","content":"no type"},"uuid":"loose"}',
    b"var hljs = function () { return 1 }",
)


# In the values --------------------------------------------------------------------------------------


def _values(random: Random, lines: list[bytes]) -> None:
    for _ in range(random.randrange(1, 8)):
        at = random.randrange(len(lines))
        entry = _decoded(lines[at])
        if entry is not None:
            _spoil(random, entry)
            lines[at] = _encoded(entry)


def _spoil(random: Random, entry: dict[str, Any]) -> None:
    """Walk a random way down a record and put something else at its end."""
    place: dict[Any, Any] | list[Any] = entry
    for _ in range(random.randrange(8)):
        inner = _containers(place)
        if not inner:
            break
        place = random.choice(inner)
    keys: list[Any] = list(place) if isinstance(place, dict) else list(range(len(place)))
    if not keys:
        return
    key = random.choice(keys)
    if random.random() < 0.2:
        del place[key]
    else:
        place[key] = _odd_value(random)


def _containers(place: dict[Any, Any] | list[Any]) -> list[dict[Any, Any] | list[Any]]:
    values: list[Any] = list(place.values()) if isinstance(place, dict) else place
    return [value for value in values if isinstance(value, dict | list)]


def _odd_value(random: Random) -> object:
    return random.choice(_ODD_VALUES)


_ODD_VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 5, 1.5, 10**30, "", " ", "x", "\ud800", "\u2028", "\0", "🚀" * 9),
    *("2026-13-45", "0000", "9999-12-31T23:59:59.999+00:00", "<command-name>/x</command-name>"),
    *("user", "assistant", "system", "compact_boundary", "progress", "attachment", {"role": "user"}),
    *([None], ["text"], {"type": "text"}, [{"type": "tool_result"}]),
    *(json.loads(text) for text in ("[]", "{}", "[[]]", "[{}]")),
    [{"type": "tool_use", "id": "one"}],
    [{"type": "tool_use", "id": 5, "input": "x"}],
    [{"type": "image", "source": {"type": "base64", "data": "iVBORw0KGgo"}}],
    [{"type": "thinking", "thinking": ""}],
    [{"type": "tool_result", "tool_use_id": "one", "content": [{"type": "image", "source": None}, 5]}],
)

# In the bytes ---------------------------------------------------------------------------------------


def _bytes(random: Random, line: bytes) -> bytes:
    if not line:
        return line
    at = random.randrange(len(line))
    end = min(len(line), at + random.choice((1, 1, 2, 8, 100)))
    match random.randrange(8):
        case 0:
            return line[:at]
        case 1:
            return line[at:]
        case 2:
            return line[:at] + line[end:]
        case 3:
            return line[:at] + random.randbytes(end - at) + line[end:]
        case 4:
            return line[:at] + b"\0" * random.randrange(1, 700) + line[random.choice((at, end)) :]
        case 5:
            return line[:at] + random.choice(corpus()) + random.choice((b"", line[at:]))
        case 6:
            return line[:at] + bytes([line[at] ^ (1 << random.randrange(8))]) + line[at + 1 :]
        case _:
            odd = random.choice(
                (b'"', b"\\", b"{", b"}", b"}{", b"[", b"]", b",", b":", b"\n", b"\r", b"\xff", b"\\u12")
            )
            return line[:at] + odd + line[at:]


def _decoded(line: bytes) -> dict[str, Any] | None:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return cast("dict[str, Any]", value) if isinstance(value, dict) else None


def _encoded(entry: dict[str, Any]) -> bytes:
    text = json.dumps(entry, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "backslashreplace")
