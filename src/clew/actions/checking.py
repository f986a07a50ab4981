"""Check session files: every problem by code, and whether the client would resume.

One pass over each file feeds the check and the line table; nothing of its content is held.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from clew.actions.opening import agent_files, find_file
from clew.actions.passes import sweep
from clew.actions.stores import open_store
from clew.errors import ClewError
from clew.format.records import read
from clew.session.chain import chain
from clew.session.check import Checker
from clew.session.eras import rules
from clew.session.graph import Graph, Links
from clew.session.reach import SAID, has_conversation, reach_of
from clew.session.session import API_ERROR, Session
from clew.store.heads import group_agents
from clew.store.live import liveness
from clew.store.source import FileSource

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from clew.session.check import Report
    from clew.store.files import SessionFile, Skipped


@dataclass(frozen=True, slots=True)
class Checked:
    """What was found in one file."""

    file: SessionFile
    report: Report | None
    """None when the file could not be read at all."""

    resumable: bool
    """Whether the newest client measured would go on from it, with something to send."""

    is_empty: bool = False
    """Whether nothing is said in it, so that there is nothing to resume."""

    unreadable: str | None = None
    was_cut: bool = False
    """Whether the file was cut while it was read."""

    @property
    def is_sound(self) -> bool:
        """Whether there is nothing worse to say of the file than a remark."""
        return self.report is not None and self.report.worst in {None, "info"} and not self.was_cut


@dataclass(frozen=True, slots=True)
class Asked:
    """The files a check was asked for, and what was left aside."""

    files: tuple[SessionFile, ...]
    skipped: tuple[Skipped, ...] = ()
    agents_left: int = 0
    """How many files of sub-agents were not asked for."""

    looked_in: tuple[str, ...] = ()


def files_to_check(
    roots: Sequence[Path], names: Sequence[str], *, everything: bool = False, with_agents: bool = False
) -> Asked:
    """Find the files to check: those named, or every session of the store."""
    store = open_store(roots)
    listing = store.listing()
    if not everything:
        named = [find_file(store, name, listing=listing) for name in names]
        files: dict[str, SessionFile] = {}
        left = 0
        for file in named:
            files.setdefault(file.path, file)
            beside = agent_files(store, file, listing=listing)
            if with_agents:
                files.update((agent.path, agent) for agent in beside)
            else:
                left += len(beside)
        return Asked(tuple(files.values()), (), left, store.roots.looked_in)
    if not with_agents:
        return Asked(listing.sessions, listing.skipped, len(listing.agents), store.roots.looked_in)
    grouped = group_agents(listing)
    ordered: dict[str, SessionFile] = {}
    for file in listing.sessions:
        ordered[file.path] = file
        ordered.update((agent.path, agent) for agent in grouped.of(file))
    ordered.update((agent.path, agent) for agent in listing.agents)
    return Asked(tuple(ordered.values()), listing.skipped, 0, store.roots.looked_in)


def check_files(
    files: Sequence[SessionFile], *, jobs: int | None = None, advance: Callable[[], None] | None = None
) -> list[Checked]:
    """Check files, in several processes where there is much to read; `advance` is called after each."""
    return sweep(_check_or_tell, files, jobs=jobs, advance=advance)


def _check_or_tell(file: SessionFile) -> Checked:
    try:
        return check_file(file)
    except ClewError as error:  # one that cannot be read does not stop the others
        return Checked(file, None, False, unreadable=error.message)


def check_file(file: SessionFile) -> Checked:
    """Check one file."""
    with FileSource(file.path) as source:
        checker = Checker(name=file.id, is_live=_is_live(file, source), source=source)
        for item in read(source.readline()):
            checker.add(item)
        session = Session(source, checker.table, name=file.id)
        if not has_conversation(session):
            return Checked(file, checker.finish(), False, is_empty=True, was_cut=source.was_cut)
        path = chain(session, rules())
        flags = session.table.flags
        has_words = any(
            session.table.kind_of(row) in SAID and not flags[row] & API_ERROR for row in path.rows
        )
        links = Links(session.table)
        reach = None if path.refused else reach_of(session, path, Graph(session, links=links))
        report = checker.finish(refused=path.refused, reach=reach, links=links)
        return Checked(file, report, path.refused is None and has_words, was_cut=source.was_cut)


def _is_live(file: SessionFile, source: FileSource) -> bool:
    """Say whether someone may be writing the file; asked only where its last line is unfinished."""
    if not source.size or source.read(source.size - 1, 1) == b"\n":
        return False
    return liveness(file, now=time.time()).is_live


def check_document(checked: Checked) -> dict[str, object]:
    """Return it in the shape of `clew check --json`."""
    found = () if checked.report is None else checked.report.problems
    document: dict[str, object] = {
        "id": checked.file.id,
        "path": checked.file.path,
        "resumable": checked.resumable,
        "problems": [
            {
                "code": one.code,
                "severity": one.severity,
                "line": one.line,
                "offset": one.offset,
                "length": one.length,
                "detail": one.detail,
                "repair": one.repair,
            }
            for one in found
        ],
        "damaged": 0 if checked.report is None else checked.report.damaged,
    }
    if checked.unreadable is not None:
        document["unreadable"] = checked.unreadable
    return document


def counted(checked: Checked) -> int:
    """Return how many problems a file has, those that are not listed singly too."""
    return 0 if checked.report is None else sum(checked.report.counts.values())
