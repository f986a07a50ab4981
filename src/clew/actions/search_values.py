"""What is asked of a search, and what it answers."""

from __future__ import annotations

from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Final, Literal

from clew.errors import UsageError
from clew.format.times import milliseconds
from clew.session.periods import moment

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from clew.actions.raw_search import Spot
    from clew.actions.search_places import Near, Where
    from clew.catalog.query import Query
    from clew.catalog.update import Update
    from clew.store.files import Listing, Skipped
    from clew.tables.texts import Field, Text

Mode = Literal["words", "literal", "regex"]
Role = Literal["user", "assistant"]

FIELDS: Final[tuple[Field, ...]] = (
    "prompt", "text", "thinking", "tool_input", "tool_result", "summary", "title",
)  # fmt: skip

LIMIT: Final = 1_000
WIDTH: Final = 160
"""Characters of a snippet."""


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked for."""

    text: str
    mode: Mode = "words"
    roots: Sequence[Path] = ()
    fields: frozenset[Field] | None = None
    role: Role | None = None
    tool: str | None = None
    """The name of a tool, with `*` for any letters; case does not count."""

    project: str | None = None
    session: str | None = None
    since: str | None = None
    until: str | None = None
    model: str | None = None
    """A model's name or a part of it."""

    git_branch: str | None = None
    errors: bool = False
    """Only what failed."""

    by_rank: bool = False
    context: int = 0
    """How many lines before and after each hit are wanted."""

    limit: int | None = LIMIT
    """How many hits are given at most; None for all."""

    per_session: int | None = None
    """How many hits of each session are wanted, where it is enough to count the others. Of the newest lines
    so many as `limit` are read all the same. Only an index can count without reading."""

    sessions: int | None = None
    """Of how many sessions, where hits of each are wanted."""

    enough: int | None = None
    """After how many lines no more are gone through to count hits, if there are some of so many sessions."""

    ignore_case: bool = False
    """For a literal or a pattern; with words it never counts."""

    no_index: bool = False
    as_it_is: bool = False
    """Whether the index is asked without bringing it up to date: somebody else just did."""

    suggests: bool = True
    """Whether words like those that are nowhere are looked for."""

    jobs: int | None = None
    width: int = WIDTH

    @property
    def reads_lines(self) -> bool:
        """Whether something is asked that only the lines themselves can tell."""
        return self.errors or any(one is not None for one in (self.tool, self.model, self.git_branch))


@dataclass(slots=True)
class Known:
    """What somebody who searches again and again knows of the files and the index."""

    listing: Listing
    """The files as they are now."""

    update: Update | None = None
    """What came of bringing the index up to date with them; None where that is to be done. It is told here
    then."""


@dataclass(frozen=True, slots=True)
class Hit:
    """One text that holds what was looked for."""

    session: str
    path: str
    line: int | None
    offset: int
    uuid: str | None
    time: str | None
    field: Field
    tool: str | None
    snippet: str
    ranges: tuple[tuple[int, int], ...]
    """Where in the snippet it is."""

    project: str | None = None
    title: str | None = None
    turn: int | None = None
    agent_id: str | None = None
    where: Where | None = None
    """None where that was not looked up: after 256 MB of sessions."""

    role: str | None = None
    """Whose line it is: user, assistant, or the type of a line of the client; None where not looked up."""

    is_error: bool = False
    ended_ms: int | None = None
    """When the session was last active."""

    owner: str = ""
    """The path of the session's own file."""

    before: tuple[Near, ...] = ()
    after: tuple[Near, ...] = ()
    call: str | None = None
    model: str | None = None
    """Who answered, of a line of the model; the index alone tells it."""

    def as_dict(self) -> dict[str, object]:
        """Return the hit in the shape of `clew search --json`."""
        found: dict[str, object] = {
            "session": self.session,
            "path": self.path,
            "line": self.line,
            "offset": self.offset,
            "uuid": self.uuid,
            "time": self.time,
            "field": self.field,
            "tool": self.tool,
            "snippet": self.snippet,
            "ranges": [list(one) for one in self.ranges],
            "project": self.project,
            "title": self.title,
            "turn": self.turn,
            "agent_id": self.agent_id,
            "where": self.where,
            "role": self.role,
            "is_error": self.is_error,
        }
        if self.before or self.after:
            found["before"] = [_near(one) for one in self.before]
            found["after"] = [_near(one) for one in self.after]
        return found


def _near(one: Near) -> dict[str, object]:
    return {"line": one.line, "uuid": one.uuid, "field": one.text.field, "text": one.text.text}


@dataclass(frozen=True, slots=True)
class Result:
    """What was found, and what was looked through for it."""

    request: Request
    hits: tuple[Hit, ...]
    total: int
    is_exact: bool
    """Whether `total` was counted text by text; else by the index, which counts lines."""

    is_least: bool
    """Whether there may be more than `total`."""

    searched: int
    """How many sessions were searched."""

    elapsed_ms: int
    looked_in: tuple[str, ...]
    suggestions: tuple[str, ...] = ()
    """Words one may have meant, where nothing was found."""

    notes: tuple[str, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    has_index: bool = True
    ids: tuple[str, ...] = ()
    """The ids of all sessions there are, for telling them apart by as little as possible."""

    more: Mapping[str, int] = field(default_factory=dict[str, int])
    """Lines that hold the words and were counted only, by the path of the session's own file."""

    def as_dict(self) -> dict[str, object]:
        """Return the JSON document."""
        return {
            "query": self.request.text,
            "total": self.total,
            "hits": [hit.as_dict() for hit in self.hits],
            "total_is_exact": self.is_exact and not self.is_least,
            "searched": self.searched,
            "elapsed_ms": self.elapsed_ms,
            "suggestions": list(self.suggestions),
            "notes": list(self.notes),
        }


@dataclass(frozen=True, slots=True)
class Wish:
    """The request, understood. It goes to other processes, and says there which hits count."""

    request: Request
    query: Query | None
    since_ms: int | None
    until_ms: int | None

    @classmethod
    def of(cls, request: Request, now: int) -> Wish:
        """Understand a request; one that makes no sense is a `UsageError`."""
        query = None
        if request.mode == "words":
            from clew.catalog.query import parse

            query = parse(request.text)
        since = _moment("--since", request.since, now)
        until = _moment("--until", request.until, now, is_end=True)
        return cls(request, query, since, until)

    def __call__(self, spot: Spot) -> bool:
        """Say whether a hit of a scan counts."""
        request = self.request
        if request.fields is not None and spot.text.field not in request.fields:
            return False
        if request.role is not None and spot.facts.role != request.role:
            return False
        if self.since_ms is not None or self.until_ms is not None:
            ms = milliseconds(spot.facts.time)
            ms = spot.file.mtime_ns // 1_000_000 if ms is None else ms
            if not (self.since_ms or 0) <= ms < (self.until_ms or 1 << 62):
                return False
        model = spot.facts.message.model if spot.facts.message is not None else None
        return self.fits(spot.text, spot.tool, model, spot.facts.git_branch)

    def fits(self, text: Text, tool: str | None, model: str | None, branch: str | None) -> bool:
        """Say whether a text fulfils what only its line can tell."""
        request = self.request
        if request.errors and not text.is_error:
            return False
        if request.tool is not None and (tool is None or not fnmatchcase(tool.lower(), request.tool.lower())):
            return False
        if request.model is not None and (model is None or request.model.lower() not in model.lower()):
            return False
        return request.git_branch is None or branch == request.git_branch


def _moment(option: str, text: str | None, now: int, *, is_end: bool = False) -> int | None:
    if text is None:
        return None
    found = moment(text, now=now, zone=None, is_end=is_end)
    if found is None:
        raise UsageError(f"{text!r} is no time", hint=f"{option} 2026-02-03, or {option} 2d for two days ago")
    return found
