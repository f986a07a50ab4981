"""Strings of a session that read as one: lines of a difference, texts of a message on one line or several."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, cast

from clew.format.decode import DecodeError, decode

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from clew.edit.known_secrets import Found
    from clew.format.patch import Path
    from clew.session.session import Session


class Row(NamedTuple):
    """A line that may hold secrets."""

    row: int
    raw: bytes
    data: Mapping[str, object]


def read_row(session: Session, row: int) -> bytes:
    """Return the bytes of a line."""
    return session.source.read(session.table.offset[row], session.table.length[row])


def data_of(raw: bytes) -> Mapping[str, object]:
    """Return the record of a line; an empty one for what is none."""
    try:
        return decode(raw).data
    except DecodeError:
        return {}


class Texts:
    """Strings that stand one after the other and read as one."""

    def __init__(self, texts: Sequence[tuple[int, Path, str]], glue: str, skip: int = 0) -> None:
        """`texts` are given with their rows and paths; the first `skip` characters of each are left out."""
        self._texts = texts
        self._glue = len(glue)
        self._skip = skip
        self.text = glue.join(text[skip:] for _, _, text in texts)

    def share(self, found: Sequence[Found]) -> Iterator[tuple[int, Path, Found]]:
        """Give what was found in all of them to each that it is a part of."""
        start = 0
        for row, path, text in self._texts:
            end = start + len(text) - self._skip if len(text) > self._skip else start
            for one in found:
                if one.start < end and one.end > start:
                    first = max(one.start, start) - start + self._skip
                    last = min(one.end, end) - start + self._skip
                    yield row, path, one._replace(start=first, end=last)
            start = end + self._glue


def walk(data: object) -> Iterator[tuple[Path, dict[str, object] | list[object]]]:
    """Give every object and list of a record with its path."""
    waiting: list[tuple[Path, object]] = [((), data)]
    while waiting:
        path, value = waiting.pop()
        if isinstance(value, dict):
            inner = cast("dict[str, object]", value)
            yield path, inner
            waiting += [((*path, name), one) for name, one in inner.items() if isinstance(one, dict | list)]
        elif isinstance(value, list):
            items = cast("list[object]", value)
            yield path, items
            waiting += [((*path, at), one) for at, one in enumerate(items) if isinstance(one, dict | list)]


def sequences(row: Row) -> Iterator[Texts]:
    """Give the strings of a line that read as one: the lines of a difference, texts of a message."""
    for path, value in walk(row.data):
        if not isinstance(value, list) or len(value) < 2:
            continue
        if all(isinstance(one, str) for one in value):
            lines = cast("list[str]", value)
            texts = [(row.row, (*path, at), line) for at, line in enumerate(lines)]
            is_marked = path[-1:] == ("lines",) and all(line[:1] in {"+", "-", " ", "\\"} for line in lines)
            yield Texts(texts, "\n", 1 if is_marked else 0)
            continue
        run: list[tuple[int, Path, str]] = []
        for at, block in enumerate([*value, None]):
            text = _text(block)
            if text is not None:
                run.append((row.row, (*path, at, "text"), text))
                continue
            if len(run) > 1:
                yield Texts(run, "")
            run = []


def _text(block: object) -> str | None:
    if isinstance(block, dict):
        known = cast("dict[str, object]", block)
        text = known.get("text")
        if known.get("type") == "text" and isinstance(text, str):
            return text
    return None


def across(session: Session) -> Iterator[Texts]:
    """Give the texts of one message that stand in lines one after the other."""
    table = session.table
    message = table.message
    said = [row for row in range(len(table)) if message[row]]
    last: tuple[int, bytes] | None = None
    for at, row in enumerate(said):
        before, last = last, None
        # A line between two of other messages need not be read.
        if message[row] not in {message[one] for one in (*said[at - 1 : at], *said[at + 1 : at + 2])}:
            continue
        raw = read_row(session, row)
        if b'"text"' not in raw:
            continue
        last = row, raw
        if before is None or table.message[before[0]] != table.message[row]:
            continue
        above, below = content_blocks(before[1]), content_blocks(raw)
        first, second = _text(above[-1] if above else None), _text(below[0] if below else None)
        if first is not None and second is not None:
            path = ("message", "content")
            ends = (before[0], (*path, len(above) - 1, "text"), first)
            yield Texts((ends, (row, (*path, 0, "text"), second)), "")


def content_blocks(raw: bytes) -> list[object]:
    """Return the blocks of the message of a line."""
    message = data_of(raw).get("message")
    content = cast("dict[str, object]", message).get("content") if isinstance(message, dict) else None
    return cast("list[object]", content) if isinstance(content, list) else []
