"""Work out what depends on several files: whose a message is, what a session used, what others call it.

A shard notes in `dirty` what changed in it. Here the notes of all shards are read, the sessions they concern
are added up anew, and only then are the notes removed: after an interruption it is simply done again.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from msgspec import Struct, field

from clew.catalog.interning import Interning, pack_uuid
from clew.catalog.messages import COLUMNS, Messages
from clew.catalog.place import path_value
from clew.catalog.sources import AGENT, SPILLED
from clew.catalog.tariff import PRICES
from clew.session.accounts import Question, Sum, account
from clew.session.growth import COUNTED
from clew.session.ledger import Ledger
from clew.session.pricing import price
from clew.session.usage import FileUsage
from clew.tables.cells import json_list

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from clew.catalog.database import Database


_FILES: Final = (
    "SELECT f.id, f.path, f.kind, f.name, f.owner, x.oldest_ms FROM source f "
    "LEFT JOIN session x ON x.source = f.id"
)
_SHARED_ON: Final = "UPDATE message SET shared = 1 WHERE hash = ? AND NOT shared"
_SHARED_OFF: Final = "UPDATE message SET shared = 0 WHERE hash = ? AND shared"


def settle(shards: Sequence[Database]) -> None:
    """Bring everything that depends on several files up to date."""
    notes = _Notes.of(shards)
    if notes.has_all:
        for database in shards:
            _roll_up_all(database)
    _in_all(shards, lambda: _work_out(shards, notes))
    # Only now: whoever is interrupted before does it again.
    for database in shards:
        if _is_noted(database):
            database.execute("BEGIN IMMEDIATE")
            database.execute("DELETE FROM dirty")
            database.execute("INSERT OR REPLACE INTO meta VALUES ('prices', ?)", (PRICES,))
            database.execute("COMMIT")


def _work_out(shards: Sequence[Database], notes: _Notes) -> None:
    _mark_shared(shards, notes)
    sessions = _Sessions(shards)
    sessions.write(notes)
    if notes.has_all or notes.has_told:
        _name(shards, None)
    elif notes.owners or notes.own:
        # Nothing else is called otherwise than before.
        _name(shards, sessions.sources(notes.owners | notes.own))


def _in_all(shards: Sequence[Database], do: Callable[[], None]) -> None:
    """Do something in a transaction of every shard; those in which nothing is written cost nothing."""
    for database in shards:
        database.execute("BEGIN")
    try:
        do()
    except BaseException:
        for database in shards:
            database.execute("ROLLBACK")
        raise
    for database in shards:
        database.execute("COMMIT")


def _is_noted(database: Database) -> bool:
    if database.execute("SELECT 1 FROM dirty").fetchone() is not None:
        return True
    return database.execute("SELECT value FROM meta WHERE key = 'prices'").fetchone() != (PRICES,)


class _Notes(Struct):
    """What changed."""

    has_all: bool = False
    has_told: bool = False
    owners: set[str] = field(default_factory=set[str])
    """Sessions with a file that came, went, or is of another age than before."""

    own: set[str] = field(default_factory=set[str])
    """Sessions that went on."""

    hashes: set[int] = field(default_factory=set[int])

    @classmethod
    def of(cls, shards: Sequence[Database]) -> _Notes:
        notes = cls()
        for database in shards:
            found = database.execute("SELECT value FROM meta WHERE key = 'prices'").fetchone()
            notes.has_all |= found is None or found[0] != PRICES
            for kind, key in database.execute("SELECT kind, key FROM dirty"):
                match kind:
                    case "owner":
                        notes.owners.add(os.fsdecode(key))
                    case "own":
                        notes.own.add(os.fsdecode(key))
                    case "message":
                        notes.hashes.add(key)
                    case "told":
                        notes.has_told = True
                    case _:
                        notes.has_all = True
        return notes


def _roll_up_all(database: Database) -> None:
    """Make the sums anew where the limits between prices are others than they were."""
    found = database.execute("SELECT value FROM meta WHERE key = 'prices'").fetchone()
    if found is None or found[0] == PRICES:
        return
    messages = Messages(database, Interning(database))
    database.execute("BEGIN IMMEDIATE")
    for (source,) in database.execute("SELECT id FROM source").fetchall():
        messages.roll_up(source)
    database.execute("COMMIT")


# --- messages in several files ------------------------------------------------------------------------------


def _mark_shared(shards: Sequence[Database], notes: _Notes) -> None:
    """Mark the messages that stand in several files."""
    if notes.has_all:
        seen: set[int] = set()
        twice: set[int] = set()
        for database in shards:
            for (hashed,) in database.execute("SELECT hash FROM message"):
                (twice if hashed in seen else seen).add(hashed)
        for database in shards:
            database.execute("UPDATE message SET shared = 0 WHERE shared")
            database.executemany(_SHARED_ON, [(hashed,) for hashed in twice])
        return
    for hashed in notes.hashes:
        many = 0
        for database in shards:
            many += database.execute("SELECT count(*) FROM message WHERE hash = ?", (hashed,)).fetchall()[0][
                0
            ]
        for database in shards:
            database.execute(_SHARED_ON if many > 1 else _SHARED_OFF, (hashed,))


# --- what sessions used -------------------------------------------------------------------------------------


class _File(Struct):
    """One file, as far as it counts here."""

    shard: int
    id: int
    kind: int
    owner: str
    oldest: int | None


class _Sessions:
    """The sums of sessions, by the path of their own files. Files are looked up when they are asked for."""

    def __init__(self, shards: Sequence[Database]) -> None:
        self._shards = shards
        self._messages = [Messages(database, Interning(database)) for database in shards]
        self._files: dict[str, _File] = {}
        self._of_owner: dict[str, list[str]] = {}
        self._by_id: dict[tuple[int, int], str] = {}
        self._names: dict[str, str] = {}

    def write(self, notes: _Notes) -> None:
        """Write the sums of all sessions that what changed concerns."""
        if notes.has_all:
            self._load("f.kind < ?", SPILLED)
        owners = self._concerned(notes)
        sums = self._sums(owners)
        for owner in owners:
            file = self._files.get(owner)
            if file is not None:
                self._write(owner, file, sums.get(self._key(owner), Sum()))

    def sources(self, owners: Iterable[str]) -> list[tuple[int, int]]:
        """Return the files of some sessions: shard, source."""
        found = [self._files[path] for owner in owners for path in self._paths(owner)]
        return [(file.shard, file.id) for file in found]

    # --- files ----------------------------------------------------------------------------------------------

    def _load(self, test: str, value: object) -> None:
        for shard, database in enumerate(self._shards):
            rows = database.execute(f"{_FILES} WHERE {test}", (value,))
            for source, path, kind, name, owner, oldest in rows:
                if kind >= SPILLED:
                    continue
                path, owner = os.fsdecode(path), os.fsdecode(owner)
                self._files[path] = _File(shard, source, kind, owner, oldest)
                self._of_owner.setdefault(owner, []).append(path)
                self._by_id[shard, source] = path
                self._names[path] = os.fsdecode(name)

    def _paths(self, owner: str) -> list[str]:
        """Return the files of a session, its own among them if there is one."""
        if owner not in self._of_owner:
            self._of_owner[owner] = []
            self._load("f.owner = ?", path_value(owner))
        return self._of_owner[owner]

    def _path(self, shard: int, source: int) -> str | None:
        """Return the path of a file, with all others of its session known."""
        if (shard, source) not in self._by_id:
            rows = self._shards[shard].execute("SELECT owner FROM source WHERE id = ?", (source,))
            for (owner,) in rows.fetchall():
                self._paths(os.fsdecode(owner))
        return self._by_id.get((shard, source))

    def _owner(self, path: str) -> str | None:
        """Return the session that a file belongs to."""
        if path not in self._files:
            for database in self._shards:
                rows = database.execute("SELECT owner FROM source WHERE path = ?", (path_value(path),))
                for (owner,) in rows.fetchall():
                    self._paths(os.fsdecode(owner))
        file = self._files.get(path)
        return None if file is None else file.owner

    def _key(self, owner: str) -> str:
        """Name a session so that on a tie the one with the lower id comes first."""
        return f"{self._names.get(owner, '')} {owner}"

    # --- which, and what they used --------------------------------------------------------------------------

    def _concerned(self, notes: _Notes) -> set[str]:
        if notes.has_all:
            return set(self._of_owner)
        found = {owner for owner in notes.owners if self._paths(owner)}
        # A file that went from one owner to another, or whose owner is now gone.
        found |= {owner for path in notes.owners if (owner := self._owner(path)) is not None}
        hashes = set(notes.hashes)
        for owner in found:
            hashes.update(self._shared_of(owner))
        found |= {owner for owner in notes.own if self._paths(owner)}
        for shard, database in enumerate(self._shards):
            for hashed in hashes:
                rows = database.execute("SELECT source FROM message WHERE hash = ?", (hashed,))
                for (source,) in rows.fetchall():
                    path = self._path(shard, source)
                    if path is not None:
                        found.add(self._files[path].owner)
        return found

    def _shared_of(self, owner: str) -> Iterator[int]:
        for path in self._paths(owner):
            file = self._files[path]
            rows = self._shards[file.shard].execute(
                "SELECT hash FROM message WHERE source = ? AND shared", (file.id,)
            )
            yield from (hashed for (hashed,) in rows)

    def _sums(self, owners: set[str]) -> dict[str, Sum]:
        """Add up what the files of some sessions used, a message that others have too once."""
        ledger = Ledger()
        shared: set[int] = set()
        taken: set[str] = set()
        for owner in owners:
            for path in self._paths(owner):
                taken.add(path)
                shared.update(self._take(ledger, path, None))
        for path, hashes in self._elsewhere(shared, taken).items():
            list(self._take(ledger, path, hashes))
        # How old a session is, its own file says; a sub-agent's is asked where there is no other.
        ages = {self._key(path): file.oldest for path, file in self._files.items() if file.owner == path}
        question = Question(
            "session", session_of=lambda path: self._key(self._files[path].owner), oldest=ages.get
        )
        return {group.key: group.sum for group in account(ledger, question).groups}

    def _take(self, ledger: Ledger, path: str, hashes: Iterable[int] | None) -> Iterator[int]:
        """Take the messages of a file into the ledger, all or some; give the hashes of the shared ones."""
        file = self._files[path]
        found = FileUsage(path)
        query = f"SELECT {COLUMNS}, shared FROM message WHERE source = ? AND marks & {COUNTED}"  # noqa: S608
        database, messages = self._shards[file.shard], self._messages[file.shard]
        if hashes is None:
            rows = database.execute(query, (file.id,))
        else:
            rows = (
                row
                for hashed in hashes
                for row in database.execute(f"{query} AND hash = ?", (file.id, hashed))
            )
        for row in rows:
            found.rows[row[2]] = messages.held(row[:-1], path).row
            if row[-1]:
                yield row[1]
        ledger.add(found)

    def _elsewhere(self, hashes: Iterable[int], taken: set[str]) -> dict[str, list[int]]:
        """Return where else some messages are, by file."""
        found: dict[str, list[int]] = {}
        for hashed in hashes:
            for shard, database in enumerate(self._shards):
                rows = database.execute("SELECT source FROM message WHERE hash = ?", (hashed,))
                for (source,) in rows.fetchall():
                    path = self._path(shard, source)
                    if path is not None and path not in taken:
                        found.setdefault(path, []).append(hashed)
        return found

    def _write(self, owner: str, file: _File, used: Sum) -> None:
        tokens = used.tokens
        agents = sum(self._files[path].kind == AGENT for path in self._paths(owner) if path != owner)
        unpriced = [model for model in used.models if price(model) is None]
        self._shards[file.shard].execute(
            "UPDATE session SET agents = ?, input_tokens = ?, output_tokens = ?, cache_read_tokens = ?, "
            "cache_write_5m_tokens = ?, cache_write_1h_tokens = ?, cost_usd = ?, unpriced_messages = ?, "
            "unpriced_models = ? WHERE source = ?",
            (
                agents,
                tokens.input,
                tokens.output,
                tokens.cache_read,
                tokens.cache_write_5m,
                tokens.cache_write_1h,
                used.cost_usd,
                used.unpriced,
                json_list(unpriced),
                file.id,
            ),
        )


# --- what others call them ----------------------------------------------------------------------------------


def _name(shards: Sequence[Database], only: Sequence[tuple[int, int]] | None) -> None:
    """Give sessions without a title of their own the summary that another file tells of one of their lines.

    As `Titles.best`: of several the one about the latest line, a file's own before another's. With `only`
    that is done for some files.
    """
    told = _told(shards)
    titles: dict[tuple[int, int], tuple[int, str]] = {}
    leaves = {pack_uuid(leaf): by_source for leaf, by_source in told.items()}
    for shard, database in enumerate(shards):
        chosen = None if only is None else [source for number, source in only if number == shard]
        database.execute(f"{_UNNAME} {_among(chosen, 'source')}")
        if chosen == [] or not leaves:
            continue
        for source, uuid, line in _lines_called(database, leaves, chosen):
            by_source = leaves[uuid]
            text = by_source.get((shard, source)) or next(iter(by_source.values()))
            if line > titles.get((shard, source), (0, ""))[0]:
                titles[shard, source] = (line, text)
    for shard, database in enumerate(shards):
        rows = [(text, source) for (number, source), (_, text) in titles.items() if number == shard]
        database.executemany(_NAME, rows)


_UNNAME: Final = (
    "UPDATE session SET title = own_title, title_source = own_source "
    "WHERE (title IS NOT own_title OR title_source IS NOT own_source)"
)
_NAME: Final = (
    "UPDATE session SET title = ?, title_source = 'summary' WHERE source = ? "
    "AND (own_source IS NULL OR own_source IN ('summary', 'prompt'))"
)


def _among(sources: Sequence[int] | None, column: str) -> str:
    """Say in SQL that a file is one of some."""
    return "" if sources is None else f"AND {column} IN ({', '.join(map(str, sources))})"


def _lines_called(
    database: Database, leaves: Iterable[str | bytes | None], only: Sequence[int] | None
) -> Iterator[tuple[int, str | bytes, int]]:
    """Find lines by their ids in sessions without a title of their own: source, id, the last such line.

    All lines are gone through, as an index of them would be an eighth of all but the words, for a thing that
    only old clients wrote.
    """
    database.execute("CREATE TEMP TABLE IF NOT EXISTS leaf (uuid PRIMARY KEY) WITHOUT ROWID")
    database.execute("DELETE FROM temp.leaf")
    database.executemany("INSERT INTO temp.leaf VALUES (?)", [(leaf,) for leaf in leaves])
    lines = "entry e" if only is None else "span p CROSS JOIN entry e ON e.id BETWEEN p.first AND p.last"
    yield from database.execute(
        f"SELECT e.source, e.uuid, max(e.id) FROM {lines} CROSS JOIN session x ON x.source = e.source "  # noqa: S608
        "WHERE e.uuid IN (SELECT uuid FROM temp.leaf) "
        "AND (x.own_source IS NULL OR x.own_source IN ('summary', 'prompt')) "
        f"{_among(only, 'p.source')} GROUP BY e.source, e.uuid"
    )


def _told(shards: Sequence[Database]) -> dict[str, dict[tuple[int, int], str]]:
    """Return the summaries that sessions tell, by the line they are about, then by who tells them."""
    rows = [
        (os.fsdecode(path), shard, source, leaf, text)
        for shard, database in enumerate(shards)
        for path, source, leaf, text in database.execute(
            "SELECT f.path, t.source, t.leaf, t.text FROM told t JOIN source f ON f.id = t.source "
            "WHERE f.kind = 0"
        )
    ]
    found: dict[str, dict[tuple[int, int], str]] = {}
    for _, shard, source, leaf, text in sorted(rows):
        found.setdefault(leaf, {})[shard, source] = text
    return found
