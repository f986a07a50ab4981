"""Rows that are made in passing: of what is known of a session file, and of one record at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from clew.format.times import milliseconds
from clew.session.pricing import price
from clew.session.usage import SIDECHAIN as UNNAMED_AGENT
from clew.tables.cells import clean, counts, day_of, json_list
from clew.tables.row_types import EntryRow, SessionRow
from clew.tables.strings import whole_characters

if TYPE_CHECKING:
    from clew.format.records import Record
    from clew.session.accounts import Sum
    from clew.session.fold import Facts
    from clew.tables.cells import Home

_LONGEST_KIND: Final = 200
_NO_COUNTS: Final = (None, None, None, None, None)
_TALK: Final = frozenset({"user", "assistant"})


def session_row(
    facts: Facts,
    *,
    session_id: str,
    path: str,
    folder: str,
    changed_ms: int,
    agents: int = 0,
    live: bool = False,
    used: Sum | None = None,
) -> SessionRow:
    """Make the row of a session file; `used` is what its messages and its sub-agents' used."""
    tokens = None if used is None else used.tokens
    unpriced = () if used is None else (model for model in used.models if price(model) is None)
    return SessionRow(
        whole_characters(session_id),
        whole_characters(path),
        clean(facts.cwd) or whole_characters(folder),
        whole_characters(folder),
        clean(facts.slug),
        clean(facts.title),
        facts.title_source,
        clean(facts.first_prompt),
        facts.kind,
        day_of(facts.started),
        facts.started,
        facts.ended,
        changed_ms,
        facts.bytes,
        facts.lines,
        facts.turns,
        facts.messages,
        facts.tool_calls,
        facts.failed_calls,
        *(_NO_COUNTS if tokens is None else counts(tokens)),
        None if used is None else used.cost_usd,
        None if used is None else used.unpriced,
        json_list(unpriced),
        json_list(facts.models),
        clean(facts.git_branch),
        json_list(facts.versions),
        json_list(facts.session_ids),
        json_list(_pr(pr.number, pr.url, pr.repository) for pr in facts.prs),
        agents,
        live,
        # The unfinished end of a session that somebody writes is no damage.
        facts.damaged - (live and facts.is_unfinished),
    )


def _pr(number: int | None, url: str | None, repository: str | None) -> dict[str, object]:
    fits = number is None or -(2**63) <= number < 2**63
    return {"number": number if fits else str(number), "url": clean(url), "repository": clean(repository)}


def entry_row(record: Record, home: Home) -> EntryRow:
    """Make the row of a record in passing. Its round and input kind only a whole session tells."""
    facts, raw = record.facts, record.raw
    length = record.length
    if not record.is_abridged:
        # Nearly every line ends so; to strip it would copy it.
        length -= 1 if raw.endswith(b"}\n") else len(raw) - len(raw.rstrip(b" \t\r\n"))
    kind = role = facts.type
    is_talk = kind == "user" or kind == "assistant"
    if not is_talk:
        kind, role = facts.kind[:_LONGEST_KIND], facts.role
        is_talk = role in _TALK
        role = role and role[:_LONGEST_KIND]
    ms = milliseconds(facts.time)
    row = EntryRow(
        home.session_id,
        facts.agent_id or home.agent_id or (UNNAMED_AGENT if facts.is_sidechain else None),
        record.number,
        record.offset,
        length,
        kind or "",
        role,
        role if is_talk else None,
        facts.uuid,
        facts.parent_uuid,
        day_of(ms),
        ms,
        facts.is_sidechain is True,
        facts.is_meta is True,
        None,
        None,
    )
    # Only a line that had to be decoded tolerantly can hold half a character.
    if record.entry is None:
        return row
    return row._replace(
        agent_id=clean(row.agent_id),
        kind=whole_characters(row.kind),
        type=clean(row.type),
        uuid=clean(row.uuid),
        parent_uuid=clean(row.parent_uuid),
    )
