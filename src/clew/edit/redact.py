"""Take secrets out of a session: out of the values, never out of what holds a session together.

A secret becomes a placeholder that is the same wherever the secret stood and does not tell it. Keys, ids,
types, times and signatures stay; so does the data of pictures. Thinking that holds a secret goes whole: its
signature would be void. What is found once is looked for everywhere, so `gather` goes over all the files of a
session first and `redact` and `redact_text` are given what all of them held.
"""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple, cast

from clew.edit.changes import Changes, without, without_blocks
from clew.edit.joined_texts import Row, across, content_blocks, data_of, read_row, sequences, walk
from clew.edit.known_secrets import Secrets
from clew.edit.plan import KEEP, Patch
from clew.edit.secret_cleaner import Cleaner, decoded
from clew.edit.secret_forms import apart
from clew.edit.secret_places import is_structure, place_of
from clew.edit.secret_rows import MARK, rows
from clew.edit.thinking import THINKING
from clew.format.patch import map_strings, same_start

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from clew.edit.joined_texts import Texts
    from clew.edit.known_secrets import Found
    from clew.edit.plan import Step
    from clew.edit.secret_forms import Spans
    from clew.edit.secret_stretches import Looked
    from clew.format.patch import Path
    from clew.format.records import Fragment
    from clew.session.session import Session

_REASON: Final = "it holds a secret"
_THOUGHT: Final = "thinking that holds a secret"
_SHORTEST: Final = 8
"""Letters of a key from which it may be a secret."""

_KEPT: Final = 1 << 14
"""The most that is remembered of what becomes of a line, in bytes."""


class Place(NamedTuple):
    """What was found in one sort of place."""

    place: str
    """`message.content`, `toolUseResult`, `originalFile`, `thinking`, `progress`, `attachment`, `title`, …"""

    rule: str
    times: int


class Redaction(Changes):
    """Changes that take secrets out, and what they are."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.places: tuple[Place, ...] = ()
        self.left = 0
        """How many stay, as they are keys or ids, which are never changed."""
        self.keeps_thinking = False
        """Whether thinking that holds a secret stays without it."""


def gather(
    session: Session,
    *,
    own: Spans | None = None,
    advance: Callable[[int], None] | None = None,
    looked: Looked | None = None,
) -> Secrets:
    """Return the secrets of a session that may be looked for elsewhere; `own` finds a person's own.

    `advance` is told of each line how many bytes it has. `looked` is what is seen in all of them, if they
    were looked at before.
    """
    secrets = Secrets()
    cleaner = Cleaner(None, b"", own)
    sights = bytearray(len(session)) if looked is None else looked.sights
    secrets.sights[session] = sights
    for row in rows(session, cleaner, sights, advance, None if looked is None else looked.rows):
        _note_row(cleaner, secrets, row)
    _note_rest(cleaner, secrets, session)
    return secrets


def has_in_rows(session: Session, suspects: Sequence[int]) -> bool:
    """Say whether there is a secret in one of some lines."""
    secrets, cleaner = Secrets(), Cleaner(None, b"", None)
    for row in rows(session, cleaner, bytearray(), None, suspects):
        _note_row(cleaner, secrets, row)
    return bool(secrets.seen)


def has_beside_rows(session: Session) -> bool:
    """Say whether there is a secret in what is no line, or in several of them together."""
    secrets = Secrets()
    _note_rest(Cleaner(None, b"", None), secrets, session)
    return bool(secrets.seen)


def _note_row(cleaner: Cleaner, secrets: Secrets, row: Row) -> None:
    map_strings(row.raw, partial(cleaner.note, secrets))
    for texts in sequences(row):
        cleaner.note(secrets, (), texts.text)
    for _, value in walk(row.data):
        for name in value if isinstance(value, dict) else ():
            if len(name) >= _SHORTEST:
                cleaner.note(secrets, (), name)  # it stays, and is to be told of


def _note_rest(cleaner: Cleaner, secrets: Secrets, session: Session) -> None:
    for texts in across(session):
        cleaner.note(secrets, (), texts.text)
    for fragment in session.fragments:
        cleaner.note(secrets, (), decoded(session.source.read(fragment.offset, fragment.length)))


def redact(
    session: Session,
    *,
    key: bytes,
    own: Spans | None = None,
    known: Secrets | None = None,
    advance: Callable[[int], None] | None = None,
    keep_thinking: bool = False,
) -> Redaction:
    """Plan to take the secrets out of a session.

    `known` are those of all the files that belong to it, its own among them, as `gather` and `gather_text`
    found them; without them its own are gathered first. `advance` is told how many bytes each line has.
    `keep_thinking` is for what is only read: thinking stays without its secrets, and its seal is void.
    """
    secrets = gather(session, own=own) if known is None else known
    if not secrets.seen:
        return Redaction(session)  # most sessions have none, and need not be gone through again
    sights = secrets.sights.get(session) or bytearray(len(session))
    return _redacted(session, Cleaner(secrets, key, own), sights, advance, keep_thinking)


# The session -------------------------------------------------------------------------------------


def _redacted(
    session: Session,
    cleaner: Cleaner,
    sights: bytearray,
    advance: Callable[[int], None] | None,
    keep_thinking: bool,
) -> Redaction:
    changes = Redaction(session)
    changes.keeps_thinking = keep_thinking
    tally: Counter[tuple[str, str]] = Counter()
    extra: dict[int, dict[Path, list[Found]]] = {}
    for texts in across(session):
        _share(texts, cleaner, extra)
    waiting = set(extra)
    for row in rows(session, cleaner, sights, advance):
        waiting.discard(row.row)
        changes.left += _redact_row(changes, row, cleaner, extra, tally)
    for number in sorted(waiting):
        raw = read_row(session, number).removeprefix(MARK)
        changes.left += _redact_row(changes, Row(number, raw, data_of(raw)), cleaner, extra, tally)
    _redact_damage(changes, cleaner, tally)
    changes.places = tuple(Place(*one, times) for one, times in sorted(tally.items()))
    return changes


def _share(texts: Texts, cleaner: Cleaner, extra: dict[int, dict[Path, list[Found]]]) -> None:
    for row, path, found in texts.share(cleaner.find((), texts.text)):
        extra.setdefault(row, {}).setdefault(path, []).append(found)


def _redact_row(
    changes: Redaction,
    row: Row,
    cleaner: Cleaner,
    extra: dict[int, dict[Path, list[Found]]],
    tally: Counter[tuple[str, str]],
) -> int:
    """Take the secrets out of one line; return how many stay."""
    for texts in sequences(row):
        _share(texts, cleaner, extra)
    kind = str(row.data.get("type", ""))
    thoughts: list[Path] = []
    void: list[Path] = []
    left = 0
    for path, value in walk(row.data):
        if isinstance(value, list):
            continue
        left += sum(1 for name in value if len(name) >= _SHORTEST and cleaner.find((), name))
        if value.get("type") in THINKING and path and isinstance(path[-1], int):
            if changes.keeps_thinking and "thinking" in value:
                continue
            thoughts.append(path)
            words = value.get("thinking")
            found = cleaner.find((), words) if isinstance(words, str) else ()
            if found:
                void.append(path)
                tally.update(("thinking", one.rule) for one in found)
    line = _Line(cleaner, extra.get(row.row, {}), frozenset(thoughts))
    new, held, kept = line.told(row.raw)
    tally.update((place_of(kind, path), rule) for path, rule in held)
    if new != row.raw:
        line.keep(row.raw, new)
        changes.change(row.row, line, _REASON)
    _drop_thoughts(changes, row, void)
    return left + kept


class _Line:
    """Takes the secrets out of one line, as often as it is asked to."""

    def __init__(self, cleaner: Cleaner, extra: Mapping[Path, list[Found]], skip: frozenset[Path]) -> None:
        self._cleaner = cleaner
        self._extra = extra
        self._skip = skip
        self._done: tuple[int, int, int, bytes] | None = None
        """What the line was, and what is put where: a plan is gone through many times."""

    def __call__(self, raw: bytes) -> bytes:
        if self._done is not None and self._done[0] == hash(raw):
            _, start, end, new = self._done
            return raw[:start] + new + raw[end:]
        return self.told(raw)[0]

    def keep(self, raw: bytes, new: bytes) -> None:
        """Remember what became of a line, if that is not much."""
        start = same_start(raw, new)
        end = same_start(raw[:start:-1], new[:start:-1])
        middle = new[start : len(new) - end]
        if len(middle) <= _KEPT:
            self._done = hash(raw), start, len(raw) - end, middle

    def told(self, raw: bytes) -> tuple[bytes, list[tuple[Path, str]], int]:
        """Return the new bytes, what was taken out by its path, and how many stay."""
        held: list[tuple[Path, str]] = []
        kept = 0

        def changed(path: Path, text: str) -> str | None:
            nonlocal kept
            found = self._cleaner.find(path, text)
            if is_structure(path):
                kept += len(found)
                return None
            more = self._extra.get(path)
            if more:
                found = apart(text, (*found, *more))
            if not found:
                return None
            held.extend((path, one.rule) for one in found)
            return self._cleaner.clean(path, text, found)

        mark = MARK if raw.startswith(MARK) else b""
        return mark + map_strings(raw.removeprefix(mark), changed, skip=self._skip), held, kept


def _drop_thoughts(changes: Redaction, row: Row, void: Sequence[Path]) -> None:
    if not void:
        return
    content = ("message", "content")
    own = [path[-1] for path in void if path[:-1] == content]
    others = [path for path in void if path[:-1] != content]
    blocks = content_blocks(row.raw)
    if own and len(own) == len(blocks):
        changes.drop(row.row, _THOUGHT)
        return
    # From the last one on, as each moves those behind it.
    for path in sorted(
        others, key=lambda path: [(isinstance(part, str), part) for part in path], reverse=True
    ):
        changes.change(row.row, partial(_without_path, path=path), _THOUGHT)
    if own:
        chosen = tuple(cast("int", at) for at in own)
        changes.change(row.row, partial(without_blocks, indexes=chosen), _THOUGHT)


def _without_path(raw: bytes, *, path: Path) -> bytes:
    return without(raw, path)


def _redact_damage(changes: Redaction, cleaner: Cleaner, tally: Counter[tuple[str, str]]) -> None:
    """Take secrets out of bytes that are no records, too: they stay in the file."""
    source = changes.session.source
    held: set[int] = set()
    for fragment in changes.session.fragments:
        rules: Counter[str] = Counter()
        data = source.read(fragment.offset, fragment.length)
        if cleaner.clean_bytes(data, rules) != data:
            held.add(fragment.offset)
            tally.update({("damaged line", rule): count for rule, count in rules.items()})
    if not held:
        return

    def mended(fragment: Fragment) -> Step:
        if fragment.offset not in held:
            return KEEP
        return Patch(cleaner.clean_bytes(source.read(fragment.offset, fragment.length)), _REASON)

    changes.mend(mended)
