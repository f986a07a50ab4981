"""What stood in the files while `live_writer` wrote them, by its own log: judge of what was said meanwhile.

An answer that took from one moment to another must be true of the files as they were between them. So each
record that stood there all the time must be in it, as often as it stood there, and nothing may be in it that
stood there at no moment. What was being written or taken away may be in it or not.
"""

from __future__ import annotations

import json
from collections import Counter
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from tests.acceptance.live_writer import digest, is_answer, lot_of, tokens_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from tests.acceptance.live_writer import Log, Sizes


class Span(NamedTuple):
    """When an answer was asked for and when it was there, and whether it owns that it may be incomplete."""

    start: float
    end: float
    is_old: bool = False


class Truth:
    """The log, asked about moments."""

    def __init__(self, log: Mapping[str, Any]) -> None:
        self.records: Log = log["records"]
        self.sizes: Sizes = log["sizes"]
        self.standing: Mapping[str, Sequence[str]] = log["standing"]
        self.ended: float = log["ended"]

    @cached_property
    def _paths(self) -> Mapping[str, str]:
        return {Path(path).stem: path for path in self.sizes}

    def path_of(self, name: str) -> str:
        """Return the file that a record is of."""
        return self._paths[name.rpartition("-")[0]]

    @cached_property
    def _lots(self) -> Mapping[str, Sequence[str]]:
        found: dict[str, list[str]] = {}
        for name in self.records:
            found.setdefault(lot_of(name), []).append(name)
        return found

    def _names(self, lots: Collection[str] | None) -> Iterable[str]:
        return self.records if lots is None else chain.from_iterable(self._lots.get(lot, ()) for lot in lots)

    def surely(self, span: Span, lots: Collection[str] | None = None) -> Counter[str]:
        """Return the records that stood in the files all the time, and how often: of all lots, or of some."""
        found: Counter[str] = Counter()
        for name in self._names(lots):
            for since, until, *_ in self.records[name]:
                found[name] += since <= span.start and (until < 0 or until >= span.end)
        return +found

    def possibly(self, span: Span, lots: Collection[str] | None = None) -> Counter[str]:
        """Return the records that stood there at some moment, and how often at most."""
        found: Counter[str] = Counter()
        for name in self._names(lots):
            for _, _, since, until in self.records[name]:
                found[name] += since <= span.end and (until < 0 or until >= span.start)
        return +found

    def size(self, path: str, span: Span) -> tuple[float, float]:
        """Return the least and the greatest size of a file."""
        before, possible = 0.0, list[float]()
        for begun, done, size in self.sizes[path]:
            if done <= span.start:
                before = size
            elif begun <= span.end:
                possible.append(size)
        return min([before, *possible]), max([before, *possible])

    # --- search ---------------------------------------------------------------------------------------------

    def judge_search(self, document: Mapping[str, Any], lots: Collection[str], span: Span) -> None:
        """Find what was invented, found twice or lost; `lots` are the words that were looked for."""
        hits: Sequence[Mapping[str, Any]] = document["hits"]
        places = Counter((hit["path"], hit["offset"]) for hit in hits)
        assert max(places.values(), default=1) == 1, f"a place twice: {places.most_common(1)}"
        found: Counter[str] = Counter()
        for hit in hits:
            name, _, said = str(hit["snippet"]).partition(" ")
            assert name in self.records, f"invented: {hit}"
            assert self.path_of(name) == hit["path"], f"in another file: {hit}"
            assert lot_of(name) in lots, f"not asked for: {hit}"
            said, _, proof = said.rpartition(" ")
            assert "…" in proof or digest(f"{name} {said}") == proof, f"invented: {hit}"
            found[name] += 1
        if gone := found - self.possibly(span, lots):
            raise AssertionError(f"{_some(gone)} found more often than they stood there")
        if not span.is_old and (lost := self.surely(span, lots) - found):
            raise AssertionError(f"{_some(lost)} lost")
        assert document["total"] == len(hits), "counted otherwise"

    # --- ls and usage ---------------------------------------------------------------------------------------

    def judge_list(self, rows: Sequence[Mapping[str, Any]], span: Span) -> None:
        """See that every count lies between the least and the greatest that was true."""
        paths = [row["path"] for row in rows]
        assert len(set(paths)) == len(paths), f"a session twice: {paths}"
        surely, possibly = self.surely(span), self.possibly(span)
        own = {path for path in self.sizes if "/subagents/" not in path}
        assert set(paths) <= own, f"invented: {set(paths) - own}"
        there = {path for path in own if self.sizes[path] and self.sizes[path][0][1] <= span.start}
        assert there <= set(paths), f"lost: {there - set(paths)}"
        for row in rows:
            path = row["path"]
            assert row["damaged"] == 0, f"damage invented: {row}"
            _between("bytes", row["bytes"], *self.size(path, span), span)
            least, most = self._in(surely, path), self._in(possibly, path)
            _between("lines", row["lines"], sum(least.values()), sum(most.values()), span)
            _between("messages", row["messages"], _answers(least), _answers(most), span)
            folder = path.removesuffix(".jsonl") + "/"
            agents = [other for other in self.sizes if other.startswith(folder)]
            least, most = (sum((self._in(one, each) for each in agents), self._in(one, path))
                           for one in (surely, possibly))  # fmt: skip
            _between("tokens", row["tokens"]["output"], _tokens(least), _tokens(most), span)

    def _in(self, names: Counter[str], path: str) -> Counter[str]:
        return Counter({name: count for name, count in names.items() if self.path_of(name) == path})

    def judge_usage(self, document: Mapping[str, Any], span: Span) -> None:
        """See that the sums lie between the least and the greatest that were true."""
        assert document["damaged"] == 0, "damage invented"
        total, surely, possibly = document["total"], self.surely(span), self.possibly(span)
        _between("messages", total["messages"], _answers(surely), _answers(possibly), span)
        _between("tokens", total["tokens"]["output"], _tokens(surely), _tokens(possibly), span)

    # --- the end --------------------------------------------------------------------------------------------

    def places(self) -> dict[tuple[str, int], tuple[int, str]]:
        """Return for each place in the files as they are now the number of its line and its record."""
        found: dict[tuple[str, int], tuple[int, str]] = {}
        for path, names in self.standing.items():
            at = 0
            lines = Path(path).read_bytes().splitlines(keepends=True)
            for number, (line, name) in enumerate(zip(lines, names, strict=True), 1):
                text = json.loads(line)["message"]["content"][0]["text"]
                assert text.partition(" ")[0] == name, "the writer's log is wrong"
                found[path, at] = number, name
                at += len(line)
        return found


def _answers(names: Iterable[str]) -> int:
    return sum(map(is_answer, names))


def _tokens(names: Iterable[str]) -> int:
    return sum(map(tokens_of, names))


def _between(what: str, value: float, least: float, most: float, span: Span) -> None:
    assert value <= most, f"{value} {what}, and there were {most} at most"
    assert span.is_old or least <= value, f"{value} {what}, and there were {least} at least"


def _some(names: Counter[str]) -> str:
    return f"{names.total()} records, such as {sorted(names)[:3]}"
