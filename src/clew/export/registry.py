"""The exporters there are, by name: ours, and those that other packages offer as `clew.exporters`.

Plain data: the code of an exporter is imported when it writes. A package offers one by an entry point whose
object is an `Exporter`; ours go before it where both have a name.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Final, Protocol, cast

from clew.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from clew.export.listed import Listed
    from clew.export.options import Options
    from clew.export.story import Story
    from clew.view.timeline import TurnView

GROUP: Final = "clew.exporters"


class Write(Protocol):
    """Gives a session as bytes, piece by piece: the same bytes whenever it is asked for the same."""

    def __call__(self, story: Story, options: Options, /) -> Iterator[bytes]:  # noqa: D102
        ...


class WriteTurns(Protocol):
    """Gives some turns of a session; sub-agents in `told` were told before, those told now are put there."""

    def __call__(  # noqa: D102
        self, story: Story, options: Options, views: Iterable[TurnView], told: set[str], /
    ) -> Iterator[bytes]: ...


class WriteIndex(Protocol):
    """Gives a list of exported sessions, those that were written last first."""

    def __call__(self, sessions: Sequence[Listed], /, *, version: str) -> Iterator[bytes]:  # noqa: D102
        ...


@dataclass(frozen=True, slots=True)
class Index:
    """The list that a folder of exports has."""

    name: str
    """Of its file."""

    write: WriteIndex


@dataclass(frozen=True, slots=True)
class InParts:
    """A format in parts, of which turns can be written apart from each other.

    What they give one after the other is what `Exporter.write` gives.
    """

    before: Write
    turns: WriteTurns
    after: Write


@dataclass(frozen=True, slots=True)
class Exporter:
    """A format that sessions are written in."""

    name: str
    help: str
    """One line."""

    suffix: str
    """What a file of it ends in, with the dot."""

    media_type: str
    write: Write
    redacts: bool = False
    """Whether secrets are taken out unless a person wants them in: where it is made to be shown to others."""

    is_text: bool = True
    """Whether it is UTF-8."""

    is_one_way: bool = False
    """Whether it is one conversation, without the turns that the client went back from."""

    is_context: bool = False
    """Whether it is what the model is sent, and not what was said: turns cannot be chosen."""

    index: Index | None = None
    assets: tuple[str, ...] = ()
    """Files of this package that it carries, by their paths below `clew`; `Story.assets` has their bytes."""

    in_parts: InParts | None = None
    """The same in parts, so that several processes can write a long session."""


def _from(module: str, name: str = "write") -> Write:
    def write(story: Story, options: Options, /) -> Iterator[bytes]:
        found = importlib.import_module(f"clew.export.{module}")
        return cast("Write", getattr(found, name))(story, options)

    return write


def _in_parts_from(module: str) -> InParts:
    def turns(
        story: Story, options: Options, views: Iterable[TurnView], told: set[str], /
    ) -> Iterator[bytes]:
        found = importlib.import_module(f"clew.export.{module}")
        return cast("WriteTurns", found.turns)(story, options, views, told)

    return InParts(_from(module, "before"), turns, _from(module, "after"))


def _index_from(module: str) -> WriteIndex:
    def write(sessions: Sequence[Listed], /, *, version: str) -> Iterator[bytes]:
        found = importlib.import_module(f"clew.export.{module}")
        return cast("WriteIndex", found.write_index)(sessions, version=version)

    return write


OWN: Final = (
    Exporter(
        "html",
        "one page to read, search and share, that needs nothing else",
        ".html",
        "text/html",
        _from("html"),
        redacts=True,
        index=Index("index.html", _index_from("html_index")),
        assets=("assets/reader.js", "assets/reader.css"),
        in_parts=_in_parts_from("html"),
    ),
    Exporter(
        "md",
        "Markdown for a repository, a wiki or an issue",
        ".md",
        "text/markdown",
        _from("md"),
        redacts=True,
        index=Index("README.md", _index_from("md_index")),
    ),
    Exporter("text", "plain text", ".txt", "text/plain", _from("text")),
    Exporter(
        "json",
        "one document: what clew show --json prints, with the sub-agents",
        ".json",
        "application/json",
        _from("json_turns"),
        index=Index("index.json", _index_from("json_index")),
    ),
    Exporter("jsonl", "the same, one turn a line", ".jsonl", "application/jsonl", _from("jsonl_turns")),
    Exporter(
        "api",
        "a request of the Messages API: what the model is sent when the session is resumed",
        ".api.json",
        "application/json",
        _from("api"),
        is_one_way=True,
        is_context=True,
    ),
    Exporter(
        "openai",
        "messages of the Chat Completions API, and one line of a data set for training",
        ".openai.jsonl",
        "application/jsonl",
        _from("openai"),
        is_one_way=True,
    ),
    Exporter(
        "sharegpt",
        "a conversation as most training tools take it",
        ".sharegpt.json",
        "application/json",
        _from("sharegpt"),
        is_one_way=True,
    ),
    Exporter(
        "atif",
        "a trajectory in the Agent Trajectory Interchange Format",
        ".atif.json",
        "application/json",
        _from("atif"),
        is_one_way=True,
    ),
)
"""Ours."""


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """A format that is made of the files or of the tables, not of what a session says: by an action."""

    name: str
    help: str
    suffix: str
    redacts: bool = False


ELSEWHERE: Final = (
    Elsewhere("parquet", "the tables of clew sql, a Parquet file each; needs the extra parquet", ""),
    Elsewhere(
        "bundle", "everything that belongs to a session in one file, for clew import", ".clew", redacts=True
    ),
)


def names() -> tuple[str, ...]:
    """Return the names of all formats; none is imported for it."""
    own = tuple(one.name for one in (*OWN, *ELSEWHERE))
    return (*own, *(name for name in _offered() if name not in own))


def exporters() -> Iterator[Exporter]:
    """Give all exporters; those of others that cannot be imported are left out."""
    others = {one.name for one in ELSEWHERE}
    for name in names():
        if name in others:
            continue
        try:
            yield find(name)
        except UsageError:
            continue


def find(name: str) -> Exporter:
    """Return the exporter of a name."""
    for exporter in OWN:
        if exporter.name == name:
            return exporter
    offered = _offered().get(name)
    if offered is None:
        near = get_close_matches(name, names(), 1, 0.5)
        hint = f"--to {near[0]}" if near else "clew export --list"
        raise UsageError(f"there is no format {name!r}", hint=hint)
    try:
        found = offered.load()
    except Exception as error:  # whatever another package raises
        raise UsageError(f"the format {name!r} cannot be used: {type(error).__name__}: {error}") from error
    if not isinstance(found, Exporter):
        raise UsageError(f"the format {name!r} cannot be used: what its package offers is no Exporter")
    return found


class _Offered(Protocol):
    """An entry point, as far as we look at it."""

    def load(self) -> object: ...


def _offered() -> dict[str, _Offered]:
    from importlib.metadata import entry_points

    return {point.name: point for point in entry_points(group=GROUP)}
