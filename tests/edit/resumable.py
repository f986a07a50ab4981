"""Every edit of a session that can be resumed, as the command does it, and what must be true of the result.

`check_seeds` puts made sessions through all edits (`ways`) or some of them, in the order in which the engine
does it: what changes, the thinking that this makes void, the losses that are refused. What comes out is
judged by the checks of the strict stand-in, by the rules of the client, by its bytes, and by doing it again.
"""

from __future__ import annotations

import json
import re
from binascii import b2a_base64
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from itertools import groupby
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

from clew.actions.editing import NOTHING, Asked, Wish, Worked, steps_of, work_out
from clew.actions.footprints import Destination, Footprint
from clew.agent.api_checks import refusal
from clew.agent.thinking_memory import ThinkingMemory
from clew.edit.changes import Changes
from clew.edit.clone import clone
from clew.edit.compress import compress
from clew.edit.merge import merge
from clew.edit.plan import Add, Drop, FilePlan, Keep, Patch
from clew.edit.redact import redact
from clew.edit.repair import repair
from clew.edit.split import split
from clew.edit.strip import strip
from clew.edit.trim import trim
from clew.edit.uncompact import uncompact
from clew.errors import RefusedError, UsageError
from clew.session.context import Context, context
from clew.session.session import Session
from clew.session.turns import turns
from clew.store.files import SessionFile
from tests.conformance.client import MODEL, PROMPT
from tests.conformance.generator import generate
from tests.edit.laws import Said, sent

Json = Mapping[str, Any]
Fate = Literal["changed", "same", "refused"]

NAME: Final = "11111111-1111-4111-8111-111111111111"
PARTS: Final = ("split, first part", "split, second part")
NEW: Final = "22222222-2222-4222-8222-222222222222"
SEED: Final = b"a seed of thirty-two bytes, more"
NOW: Final = 1_800_000_000_000
OLDER: Final = ("2.1.150", "2.1.45", "2.0.76")
"""The clients before the newest in which what could be resumed must stay so."""

_ID: Final = re.compile(rb"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_SIGNATURE: Final = re.compile(rb'("thinking":"((?:[^"\\]|\\.)*)","signature":")c2lnOnRob3VnaHQ=')
_WORD: Final = re.compile(r"\b(?:juniper|lagoon|ember)\b")
"""Words of made sessions that are taken for secrets."""


class Way(NamedTuple):
    """One way to edit a session."""

    name: str
    make: Callable[[Session], Changes]
    asked: Asked = NOTHING
    is_repeatable: bool = True
    """Whether it means the same again: a part of a session has not the turn at which it was split."""


def ways(seed: int) -> list[Way]:
    """Return all edits, with options that go round with the seed."""
    turned = seed // 3 % 3 + 1
    bulk = Asked(changes_nothing_sent=True)
    parts = Asked(drops_turns=True, drops_boundaries=True, drops_prompt=True)
    return [
        Way("strip --bulk", partial(strip, bulk=True), bulk),
        Way("strip --thinking", partial(strip, thinking=True, bulk=seed % 2 == 0)),
        Way("strip --images drop", partial(strip, images="drop")),
        Way("trim --tools", partial(trim, tools=frozenset({("*", "Bash", "mcp__*")[seed % 3]}))),
        Way("trim --results-only", partial(trim, results_only=True)),
        Way(
            "trim --keep-turns",
            partial(trim, keep_turns=turned),
            Asked(drops_turns=True, drops_boundaries=True),
        ),
        Way("trim --older-than", partial(trim, older_than=turned, results_only=seed % 2 == 0)),
        Way("trim --larger-than", partial(trim, larger_than=(5, 15, 30)[seed % 3])),
        Way(
            "compress",
            partial(
                compress,
                keep_turns=seed % 3,
                summary=(None, "What came before.")[seed % 4 // 3],
                keep_calls=seed % 2 == 0,
                seed=SEED,
                now_ms=NOW,
            ),
            Asked(drops_turns=True, drops_prompt=seed % 3 == 0),
        ),
        Way(
            "uncompact",
            partial(uncompact, every=seed % 2 == 0),
            Asked(drops_boundaries=True),
            is_repeatable=seed % 2 == 0,  # else it takes back the one before
        ),
        Way(
            "repair",
            partial(repair, seed=SEED, now_ms=NOW),
            Asked(drops_boundaries=True, drops_prompt=True, mends=True),
        ),
        Way("redact", partial(redact, key=b"key", own=_secrets)),
        *(
            Way(name, partial(_part, seed=seed, part=part), parts, is_repeatable=False)
            for part, name in enumerate(PARTS)
        ),
    ]


def _secrets(words: str) -> list[tuple[int, int]]:
    return [found.span() for found in _WORD.finditer(words)]


def _part(session: Session, *, seed: int, part: int) -> Changes:
    return split(session, turn=_turn(session, seed))[part]


@lru_cache(maxsize=2)
def _turn(session: Session, seed: int) -> int:
    """Return a turn at which a session can be split, another one for another seed."""
    numbers = [turn.n for turn in turns(session)]
    at = seed % max(1, len(numbers))
    for number in numbers[at:] + numbers[:at]:
        try:
            split(session, turn=number)
        except (RefusedError, UsageError):
            continue
        return number
    raise UsageError("it cannot be split at any turn")


class Source:
    """A session to be edited, and what is true of it."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.session = Session.read(data, name=NAME)
        self.sent = context(self.session)
        self.refusal = api_refusal(self.sent)
        self._refused: dict[str, bool] = {}

    def is_refused_by(self, client: str) -> bool:
        """Say whether a client of another version would not resume it."""
        if client not in self._refused:
            self._refused[client] = context(self.session, client=client).refused is not None
        return self._refused[client]


def resumable(seed: int) -> Source | None:
    """Return the made session of a seed if it can be resumed.

    One in which two lines contradict each other is repaired first: no other edit would take it.
    """
    source = Source(_signed(generate(seed).data))
    if source.sent.refused is not None:
        return None
    try:
        worked_out(source.session, Way("nothing", Changes))
    except RefusedError:
        mended = repair(source.session, seed=SEED, now_ms=NOW)
        source = Source(b"".join(mended.plan("").pieces()))
        assert source.sent.refused is None
    return source


def _signed(data: bytes) -> bytes:
    """Give every thought a signature of its own, as models do: by it the stand-in knows it again."""
    return _SIGNATURE.sub(lambda found: found[1] + b2a_base64(found[2], newline=False)[:40], data)


def api_refusal(sent: Context, *, before: Context | None = None) -> str | None:
    """Say what the strict stand-in would refuse if what is sent went on with a prompt.

    Thinking that was sent before must come after what it came after then.
    """
    prompt = {"role": "user", "content": [{"type": "text", "text": PROMPT}]}
    messages: list[Json] = [*sent.messages, prompt]
    found = refusal({"model": MODEL, "max_tokens": 1024, "messages": messages})
    if found is None and before is not None:
        memory = ThinkingMemory()
        memory.learn(before.messages)
        found = memory.refusal(messages, binds=True)
    return None if found is None else found.message


def worked_out(session: Session, way: Way, *, keep_thinking: bool = False) -> Worked:
    """Work an edit out as the command does."""
    file = SessionFile(f"/p/{NAME}.jsonl", NAME, "p", session.source.size, 0, 0, 0)
    footprint = Footprint(file, session, (), (), ())
    wish = Wish(way.name, NEW, NOW, Path("/state"), keep_thinking=keep_thinking)
    return work_out(footprint, way.make, wish, Destination.beside(footprint, NEW), asked=way.asked)


def written(worked: Worked) -> bytes:
    """Return the new file."""
    return b"".join(worked.plan.files[-1].pieces())


def edited(source: Source, way: Way, *, keep_thinking: bool = False) -> Worked | None:
    """Return what an edit makes of a session; None if it is refused, which leaves everything as it was."""
    try:
        worked = worked_out(source.session, way, keep_thinking=keep_thinking)
    except (RefusedError, UsageError):
        return None
    return None if worked.losses else worked


def check_way(source: Source, way: Way) -> Fate:
    """Edit a session in one way and check the result."""
    worked = edited(source, way)
    if worked is None:
        return "refused"
    (plan,) = worked.plan.files
    assert isinstance(plan, FilePlan)
    new = written(worked)
    check_untouched(source.data, plan, new)
    if new == source.data:
        return "same"
    result = Source(new)
    check_result(source, result)
    assert result.sent.messages == worked.after.messages, "what was said before it was written"
    if worked.plan.thinking_dropped:
        kept = worked_out(source.session, way, keep_thinking=True)
        assert _without_thinking(worked.after) == _without_thinking(kept.after), "more than thinking went"
    if way.is_repeatable:
        again = worked_out(result.session, way)
        steps = [step for file in again.plan.files for step in steps_of(file)]
        assert not steps, f"done twice it changes more: {steps[:3]}"
        assert not again.losses
    return "changed"


def _without_thinking(said: Context) -> list[Said]:
    """Return what is sent but for thinking; results that come together have no order of their own."""
    rest = [one for one in sent(said.messages) if not one.kind.endswith("thinking")]
    found: list[Said] = []
    for is_result, some in groupby(rest, key=lambda one: one.kind == "tool_result"):
        together = [*some]
        found += sorted(together) if is_result else together
    return found


def check_result(source: Source, result: Source) -> None:
    """Check that what could be resumed still can, in the newest client and in older ones."""
    assert result.sent.refused is None, result.sent.refused
    if source.refusal is None:
        found = api_refusal(result.sent, before=source.sent)
        assert found is None, found
    for client in OLDER:
        assert source.is_refused_by(client) or not result.is_refused_by(client), client


def check_untouched(data: bytes, plan: FilePlan, new: bytes) -> None:
    """Check that what stays is the very bytes it was, in its order, and that all else is whole records."""
    at, seen = plan.preamble, plan.preamble
    assert new[:at] == data[:at]
    for item, step in plan.steps():
        if item is not None:
            assert item.offset == seen, "every byte of the source has its fate"
            seen = item.end
        match step:
            case Keep():
                assert item is not None
                made, ending = data[item.offset : item.end], b""
            case Patch(made, _):
                assert item is not None
                assert made != data[item.offset : item.offset + item.length]
                ending = data[item.offset + item.length : item.end]
            case Add(made, _):
                ending = b"\n"
                # The line before it may have had no ending.
                at += new[at : at + 1] == b"\n"
            case Drop():
                continue
        assert new.startswith(made + ending, at), step
        at += len(made) + len(ending)
        # What was no record may stay none: a secret is taken out of torn lines too.
        if not isinstance(step, Keep) and (item is None or item.row is not None):
            assert b"\n" not in made
            assert isinstance(json.loads(made), dict)
    assert at == len(new)
    assert seen == len(data)


def check_clones(source: Source) -> Fate:
    """Check a clone, and that a clone of it is the same but for ids."""
    first = cloned(source)
    again = _cloned(Session.read(first, name=NEW), NAME, b"two")
    result = Source(first)
    check_result(source, result)
    assert result.sent.messages == source.sent.messages, "the conversation is another"
    assert _without_ids(again) == _without_ids(first)
    assert first.count(b"\n") == source.data.count(b"\n")
    own = {line.get("uuid") for line in _records(source.data)} - {None}
    assert own.isdisjoint({line.get("uuid") for line in _records(first)}), "a line keeps its id"
    return "changed"


def cloned(source: Source) -> bytes:
    """Return the clone of a session."""
    return _cloned(source.session, NEW, b"one")


def _cloned(session: Session, new_id: str, seed: bytes) -> bytes:
    (plan,) = clone(session, new_id=new_id, seed=seed).files
    return b"".join(plan.pieces())


def _records(data: bytes) -> Iterator[Json]:
    for line in data.split(b"\n"):
        try:
            found: Any = json.loads(line)
        except ValueError:
            continue
        if isinstance(found, dict):
            yield found


def _without_ids(data: bytes) -> bytes:
    """Number the ids in the order in which they first occur."""
    numbers: dict[bytes, int] = {}
    return _ID.sub(lambda found: b"#%d" % numbers.setdefault(found[0], len(numbers)), data)


def halves(source: Source, seed: int) -> tuple[Session, Session] | None:
    """Return a session in two, with all its thinking; None if it cannot be split."""
    found: list[Session] = []
    for way in ways(seed):
        if way.name not in PARTS:
            continue
        worked = edited(source, way, keep_thinking=True)
        if worked is None:
            return None
        found.append(Session.read(written(worked), name=NAME))
    first, second = found
    return first, second


def merged(first: Session, second: Session) -> bytes:
    """Return two sessions in one."""
    return b"".join(merge(first, second).pieces())


def check_merge(source: Source, seed: int) -> Fate:
    """Check that the parts of a session make the same conversation again."""
    found = halves(source, seed)
    if found is None:
        return "refused"
    result = Source(merged(*found))
    check_result(source, result)
    assert result.sent.messages == source.sent.messages, "the conversation is another"
    assert merged(result.session, found[1]) == result.data, "merged twice it changes more"
    return "changed"


def results(source: Source, seed: int) -> Iterator[tuple[str, bytes]]:
    """Give every file that an edit makes of a session, if it is another."""
    yield "clone", cloned(source)
    for way in ways(seed):
        worked = edited(source, way)
        if worked is not None and (new := written(worked)) != source.data:
            yield way.name, new
    found = halves(source, seed)
    if found is not None:
        yield "merge", merged(*found)


class Failed(NamedTuple):
    """What is not as it should be."""

    seed: int
    way: str
    problem: str


class Tally(NamedTuple):
    """What came of many edits."""

    sessions: int
    fates: Mapping[str, Counter[Fate]]
    failed: Sequence[Failed]

    def table(self) -> str:
        """Write how often each edit changed something, changed nothing, was refused."""
        lines = [f"{self.sessions} sessions that can be resumed"]
        for way, fates in self.fates.items():
            lines.append(f"  {way:22}" + "".join(f" {fate} {many}," for fate, many in fates.items()))
        return "\n".join([*lines, *(f"{one.seed} {one.way}: {one.problem}" for one in self.failed)])


def checks(source: Source, seed: int) -> dict[str, Callable[[], Fate]]:
    """Return what is to be checked of one session, by the names of the edits."""
    return {
        "clone": partial(check_clones, source),
        **{way.name: partial(check_way, source, way) for way in ways(seed)},
        "merge": partial(check_merge, source, seed),
    }


def check_seeds(seeds: Iterable[int], *, some: int | None = None) -> Tally:
    """Check the edits of the made sessions of some seeds: all, or so many of each, which go round."""
    fates: dict[str, Counter[Fate]] = {}
    failed: list[Failed] = []
    sessions = 0
    for seed in seeds:
        source = resumable(seed)
        if source is None:
            continue
        found = checks(source, seed)
        names = list(found)
        if some is not None:
            names = [names[(sessions * some + n) % len(names)] for n in range(some)]
        sessions += 1
        for name in names:
            try:
                fates.setdefault(name, Counter())[found[name]()] += 1
            except Exception as error:  # whatever goes wrong is told with its seed
                failed.append(Failed(seed, name, f"{type(error).__name__}: {str(error)[:400]}"))
    return Tally(sessions, fates, failed)
