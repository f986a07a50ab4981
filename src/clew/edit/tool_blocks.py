"""The blocks of a session that are calls of tools or what came of them, on all branches, of sub-agents too.

Tools that the API's own servers run have both in one answer; all others have the result in a line of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

from clew.edit.changes import content_of
from clew.format.decode import encode
from clew.format.entry import as_mapping
from clew.session.context import estimate_tokens
from clew.session.session import SALVAGED

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from clew.edit.changes import Changes

NOTE: Final = "[result removed by clew: "
_CALLS: Final = frozenset({"tool_use", "server_tool_use", "mcp_tool_use"})
_WORDED: Final = frozenset({"tool_result", "mcp_tool_result"})
_TELLING: Final = ("file_path", "notebook_path", "command", "pattern", "path", "url", "query", "description")
"""What was asked of a tool, what says most first."""

_LONGEST: Final = 60


class Place(NamedTuple):
    """A block: its line, and which of the line's it is."""

    row: int
    number: int
    """From 0."""


class CallBlock(NamedTuple):
    """A call."""

    place: Place
    id: str | None
    name: str
    tokens: int
    about: str
    """What it was asked, in a few words; may be empty."""

    is_server: bool


class ResultBlock(NamedTuple):
    """A result."""

    place: Place
    id: str | None
    tokens: int
    kind: str
    is_told: bool
    """Whether it says anything other than that what it said was taken out."""

    @property
    def takes_words(self) -> bool:
        """Whether any text may stand in it: the results of the API's own servers have a form of their own."""
        return self.kind in _WORDED


class ToolBlocks:
    """All calls and results that the lines of a session hold, but for those that go anyway."""

    def __init__(self, changes: Changes) -> None:
        self.calls: list[CallBlock] = []
        self.results: dict[str | None, list[ResultBlock]] = {}
        self._ids: set[str | None] = set()
        session, table = changes.session, changes.session.table
        for row in range(len(table)):
            if row in changes.dropped or table.kind_of(row) not in {"user", "assistant"}:
                continue
            if table.flags[row] & SALVAGED:
                # On a damaged line no client reads it; but a repair may bring the call back.
                self._ids |= {_id(block, "id") for block in content_of(session, row)}
            else:
                self._read(changes, row)
        self._ids |= {call.id for call in self.calls}

    def of(self, call: CallBlock) -> Sequence[ResultBlock]:
        """Return the results of a call."""
        return self.results.get(call.id, ()) if call.id is not None else ()

    def strays(self) -> Iterator[ResultBlock]:
        """Give the results without a call."""
        for name, results in self.results.items():
            if name is None or name not in self._ids:
                yield from results

    def _read(self, changes: Changes, row: int) -> None:
        session, out = changes.session, changes.blocks_out(row)
        is_answer = session.table.kind_of(row) == "assistant"
        for index, block in enumerate(content_of(session, row)):
            kind, place = block.get("type"), Place(row, index)
            if index in out or not isinstance(kind, str):
                continue
            if is_answer and kind in _CALLS:
                given, name = as_mapping(block.get("input")), block.get("name")
                self.calls.append(
                    CallBlock(
                        place,
                        _id(block, "id"),
                        name if isinstance(name, str) else "",
                        estimate_tokens([{**block, "type": "tool_use"}]),
                        _about(given, session.entry(row).cwd),
                        kind != "tool_use",
                    )
                )
            elif kind == "tool_result" or (is_answer and kind.endswith("_tool_result")):
                self.results.setdefault(_id(block, "tool_use_id"), []).append(_result(place, block, kind))


def note(tokens: int, name: str, about: str) -> str:
    """Say what is gone: `[result removed by clew: 12,345 tokens, Read src/app.py]`."""
    what = " ".join(part for part in (_line(name), about) if part)
    return f"{NOTE}{tokens:,} tokens{', ' if what else ''}{what}]"


def _result(place: Place, block: Mapping[str, Any], kind: str) -> ResultBlock:
    content = block.get("content")
    parts = cast("list[object]", content if isinstance(content, list) else [content])
    words = parts[0] if len(parts) == 1 else None
    words = words if isinstance(words, str) else as_mapping(words).get("text")
    is_told = bool(parts and parts[0]) and not (isinstance(words, str) and words.startswith(NOTE))
    tokens = estimate_tokens(block.get("content")) if parts and parts[0] else 0
    if kind not in _WORDED and tokens:
        tokens = len(encode(parts)) // 4
    return ResultBlock(place, _id(block, "tool_use_id"), tokens, kind, is_told)


def _id(block: Mapping[str, Any], name: str) -> str | None:
    value = block.get(name)
    return value if isinstance(value, str) else None


def _about(given: Mapping[str, Any], folder: str | None) -> str:
    for name in _TELLING:
        value = given.get(name)
        if isinstance(value, str) and value.strip():
            if folder and value.startswith(f"{folder}/"):
                value = value[len(folder) + 1 :]
            return _line(value)
    return ""


def _line(words: str) -> str:
    """Return words on one line, cut where they are long, without half characters."""
    line = " ".join(words[: _LONGEST * 4].split()).encode("utf-8", "ignore").decode()
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"
