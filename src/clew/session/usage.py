"""What the messages of one session file used: one row a message, made in one pass over its raw lines.

Lines that share `message.id` (else `requestId`, else lines next to each other) are one message. Its usage is
that of the line with the greatest `output_tokens`, the later one on a tie. Synthetic messages and API errors
cost nothing and are no rows. Adding up over files is `session.ledger`'s work, money is `session.pricing`'s.
A file that grew need not be read again from its beginning: `Folder.more`, and `session.growth`.

Most of a session file is tool output, so the pass leaves out what it need not decode. A line is left out only
if the outermost object says, before any other object opens in it, that it is of a type that never carries
usage, and no answer stands at the end of the same line. Everything else is decoded, in whatever order and
spacing its keys stand. Not looked for: keys that occur twice or are spelled with escapes, and an answer that
stands between other records on one damaged line.
"""

from __future__ import annotations

from itertools import islice
from math import isfinite
from typing import TYPE_CHECKING, Any, Final

import msgspec

from clew.format.lines import stretches
from clew.format.salvage import BOM
from clew.session.ages import beginning
from clew.session.answers import (
    CallingMessage,
    PlacedAnswer,
    advisers_of,
    is_broken_off,
    read_slowly,
    reader,
    searches_of,
)
from clew.session.growth import COUNTED, TIMED, USED, Growth, Held
from clew.session.states import (
    Form,
    StateError,
    lasting_hash,
    packed,
    packed_or_none,
    unpacked,
    unpacked_or_none,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from clew.session.answers import Advisers, Answer, Depth, Message, Told

Calls = tuple[str, ...]
"""The names of the tools a message called, one for each call."""

Place = tuple[str, str | None, str | None]
"""The file a message stands in, the sub-agent it is of, and the git branch of its first line."""

Terms = tuple[str | None, str | None, str | None, int, int, "Advisers"]
"""Service tier, speed, place of inference, web searches, web fetches, other models asked on the way."""

Row = tuple[str | None, int, int, int, int, int, str | None, Terms, Place, Calls]
"""One message as one file has it: a plain tuple, since there are a hundred thousand of them.

The time of its first line, as written; tokens: output, input, read from the cache, written to it for 5
minutes, for 1 hour; model; terms; place; calls.
"""

SYNTHETIC: Final = "<synthetic>"
SIDECHAIN: Final = "sidechain"
"""The agent of a sidechain line that names none (up to 1.0.128)."""


class FileUsage:
    """What one session file tells of usage."""

    __slots__ = ("client_cost", "cwd", "damaged", "is_unfinished", "name", "rows")

    def __init__(self, name: str) -> None:
        self.name = name
        self.rows: dict[str, Row] = {}
        """By message: its id, or what stands for it."""
        self.cwd: str | None = None
        """The first folder the file names, if it was asked for."""
        self.client_cost: float | None = None
        """What the client itself says the session cost: the last `cost-state` (2.1.325)."""
        self.damaged = 0
        """Finished lines that are more or less than one record, among those that may tell of usage."""
        self.is_unfinished = False
        """Whether the last line has no end and is no record, as while it is being written."""


_OTHERS: Final = tuple(
    f'{name}"'.encode()
    for name in (
        "progress", "file-history-snapshot", "system", "attachment", "api-request-blob", "api-request",
        "api-request-shape", "queue-operation", "ai-title", "last-prompt", "summary", "custom-title",
        "permission-mode", "mode", "agent-name", "tools-used", "atis-latch", "file-history-delta", "pr-link",
        "tag", "agent-setting", "content-replacement", "attribution-snapshot", "worktree-state",
    )
)  # fmt: skip
"""Types that carry no usage, the frequent ones first."""

_MESSAGE: Final = (b'{"id":"msg_', b'{"model":"')
_USER: Final = b',"type":"user"'
_BACKSLASH: Final = 0x5C
_ANSWER: Final = b'"assistant"'
_TAIL: Final = 700
"""How far from the end of a line an answer's own type stands, as the client writes it. There it shows when
one was appended to a torn line. To search every tool result for it would cost as much as all the rest."""

_HEAD: Final = 500
"""How many lines are searched for the folder a session ran in."""


class Folder:
    """Folds session files into rows, one file after the other; what rows have in common is held once."""

    def __init__(self, depth: Depth = "usage") -> None:
        """`depth` says what is read beside the usage; less is quicker."""
        self._depth: Depth = depth
        self._decode = reader(depth)
        self._held: dict[Any, Any] = {}

    def file(self, name: str, pieces: Iterable[bytes], *, agent: str | None = None) -> FileUsage:
        """Fold the bytes of one file, in pieces of any size; `agent` is the one the file is called after."""
        found = FileUsage(name)
        one = _File(found)
        self._read(one, pieces)
        one.write_rows(agent, self._held, is_placed=self._depth != "usage")
        return found

    def more(
        self, name: str, pieces: Iterable[bytes], *, agent: str | None = None, state: bytes | None = None
    ) -> Growth:
        """Fold the bytes that came to a file since `state` was made; without one, those from its beginning.

        The state is that of the growth before, made with the same depth, name and agent. One that cannot be
        taken up is a `StateError`: then read from the beginning. An unfinished last line may be folded to
        see what it adds, but a state from behind it must not be kept.
        """
        found = FileUsage(name)
        one = _File(found)
        if state is not None:
            one.take_up(_FORM.unpack(state), self._depth)
        self._read(one, pieces)
        one.write_rows(agent, self._held, is_placed=self._depth != "usage", is_all=True)
        messages = {key: one.hold(key, row) for key, row in found.rows.items()}
        kept = _FORM.pack(one.put_away(self._depth))
        return Growth(messages, found.cwd, found.client_cost, found.damaged, kept)

    def _read(self, one: _File, pieces: Iterable[bytes]) -> None:
        found, is_placed = one.found, self._depth != "usage"
        data, start, end = b"", 0, 0
        for data, start, end in stretches(one.begun(pieces)):
            if is_placed and found.cwd is None and one.looked < _HEAD:
                lines = data[start:end].removesuffix(b"\n").split(b"\n")
                for raw in islice(lines, _HEAD - one.looked):
                    one.looked += 1
                    found.cwd = self._folder_in(raw)
                    if found.cwd is not None:
                        break
            self._fold(one, data, start, end)
        if end > start and not data.endswith(b"\n", start, end):
            found.is_unfinished = is_broken_off(data[data.rfind(b"\n", start, end) + 1 or start : end])

    def _fold(self, one: _File, data: bytes, at: int, stop: int) -> None:
        """Do the work that is done for every line; nothing else in clew runs as often.

        In a file as the client writes it the message of most answers begins in the same column, and so does
        the type of most users' lines. So these columns are looked at first.
        """
        decode, find, starts = self._decode, data.find, data.startswith
        is_full = self._depth == "calls"
        answers = one.answers
        answer_at, user_at = one.answer_at, one.user_at
        # The id of the message before, which is apart from one without an id; a user's is any.
        last = ""
        while at < stop:
            start = at
            at = find(b"\n", start, stop) + 1 or stop
            # So the message of an answer begins. To decode a line is never wrong, so a guess will do.
            if not starts(_MESSAGE, start + answer_at, at):
                kind = "user"
                if not starts(_USER, start + user_at, at) or find(b"{", start + 1, start + user_at) >= 0:
                    kind, column = _look(data, start, at)
                    if kind == "user":
                        user_at = column
                    elif kind == "answer":
                        answer_at = column
                tail = at - _TAIL if at - start > _TAIL else start
                if kind and kind != "answer" and find(_ANSWER, tail, at) < 0:
                    if kind == "user":
                        last = "?"
                    continue
            raw = data[start:at]
            try:
                answer = decode(raw)
            except (ValueError, RecursionError):  # msgspec's errors are ValueErrors; so is bad UTF-8
                one.add_slowly(raw, last)
                last = ""
                continue
            message, kind = answer.message, answer.type
            if kind == "assistant" and message is not None and (key := message.id) and answer.timestamp:
                last = key
                before = answers.get(key)
                if before is None:
                    answers[key] = answer
                else:
                    one.add_to(before, answer)
                if is_full:
                    one.add_calls(key, message)
            elif kind == "user":
                last = "?"
            elif not kind or kind == "assistant" or kind == "cost-state":
                one.add_slowly(raw, last)
                last = ""
        one.is_parted |= last != ""
        one.answer_at, one.user_at = answer_at, user_at

    def _folder_in(self, raw: bytes) -> str | None:
        """Return the folder that a line names."""
        try:
            answer = self._decode(raw)
        except (ValueError, RecursionError):
            return None
        return (answer.cwd or None) if isinstance(answer, PlacedAnswer) else None


def may_tell(raw: bytes) -> bool:
    """Say whether a line is looked at: of the others it is not known whether they are damaged."""
    kind, _ = _look(raw, 0, len(raw))
    return kind in {"", "answer"} or _ANSWER in raw[-_TAIL:]


def _look(data: bytes, start: int, end: int) -> tuple[str, int]:
    """Say what a line is, "" where only decoding it can tell, and in which column that showed."""
    inner = data.find(b"{", start + 1, end)
    if data.startswith(_MESSAGE, inner):
        return "answer", inner - start
    # Backwards: the client writes the type last before the message.
    told = data.rfind(b'"type":"', start, inner if inner > 0 else end)
    if told > start and data[told - 1] != _BACKSLASH:
        if data.startswith(b'user"', told + 8):
            return "user", told - 1 - start
        if data.startswith(_OTHERS, told + 8):
            return "other", 0
    return "", 0


class _State(msgspec.Struct, array_like=True):
    """Where the reading of a file stands."""

    depth: str
    is_begun: bool
    looked: int
    answer_at: int
    user_at: int
    is_parted: bool
    unnamed: bytes
    place: tuple[bool | None, bytes | None] | None
    numbered: int
    damaged: int
    client_cost: float | None
    cwd: bytes | None


_FORM: Final = Form("usage", 1, _State)


class _File:
    """The messages of one file while it is gone through."""

    __slots__ = (
        "_is_begun", "_numbered", "_place", "_unnamed", "answer_at", "answers", "calls", "found", "is_parted",
        "looked", "user_at",
    )  # fmt: skip

    def __init__(self, found: FileUsage) -> None:
        self.found = found
        self._is_begun = False
        self.looked = 0
        """How many lines were searched for the folder."""
        self.answer_at = self.user_at = 0
        """In which column the message of the last answer began, and the type of the last user's line."""
        self.answers: dict[str, Answer] = {}
        """The first line of each message, with what the API said on the line whose usage counts."""
        self.calls: dict[str, dict[str | int, str]] = {}
        """By message the tools it called, by the id of the call, else by how many were before it."""
        self.is_parted = False
        """Whether another message came since the last answer without an id."""
        self._unnamed = ""
        self._place: tuple[bool | None, str | None] | None = None
        self._numbered = 0
        """How many messages have neither an id nor a uuid."""

    def begun(self, pieces: Iterable[bytes]) -> Iterator[bytes]:
        """Pass the pieces on, without the byte order mark that a file may begin with."""
        pull = iter(pieces)
        if not self._is_begun:
            yield self._begin(pull)
        yield from pull

    def _begin(self, pull: Iterator[bytes]) -> bytes:
        head = beginning(pull)
        self._is_begun = bool(head)
        return head.removeprefix(BOM)

    def put_away(self, depth: Depth) -> _State:
        """Tell where the reading stands."""
        place = None if self._place is None else (self._place[0], packed_or_none(self._place[1]))
        found = self.found
        return _State(
            depth,
            self._is_begun,
            self.looked,
            self.answer_at,
            self.user_at,
            self.is_parted,
            packed(self._unnamed),
            place,
            self._numbered,
            found.damaged,
            found.client_cost,
            packed_or_none(found.cwd),
        )

    def take_up(self, state: _State, depth: Depth) -> None:
        """Go on from where the reading stood."""
        if state.depth != depth:
            raise StateError(f"the state was made for {state.depth}, not for {depth}")
        found = self.found
        self._is_begun, self.looked = state.is_begun, state.looked
        self.answer_at, self.user_at = state.answer_at, state.user_at
        self.is_parted, self._unnamed = state.is_parted, unpacked(state.unnamed)
        self._place = None if state.place is None else (state.place[0], unpacked_or_none(state.place[1]))
        self._numbered = state.numbered
        found.damaged, found.client_cost = state.damaged, state.client_cost
        found.cwd = unpacked_or_none(state.cwd)

    def add_slowly(self, raw: bytes, last: str) -> None:
        """Take in a line, whatever it is: damaged, of other types than expected, without an id…"""
        self.is_parted |= last != ""
        found, is_damaged = read_slowly(raw)
        self.found.damaged += is_damaged and raw.endswith(b"\n")
        for told in found:
            self._add(told)

    def _add(self, told: Told) -> None:
        answer, message = told.answer, told.answer.message
        if told.role == "cost-state" and (cost := _money(told.client_cost)) is not None:
            self.found.client_cost = cost
        if told.role == "user":
            self.is_parted = True
        if told.role != "assistant" or message is None:
            return
        key = message.id or (f"request {told.request_id}" if told.request_id else "")
        if key:
            self.is_parted = True
        else:
            key = self._next_to(told)
        before = self.answers.get(key)
        if before is None:
            self.answers[key] = answer
        else:
            self.add_to(before, answer)
        self.add_calls(key, message)

    def add_to(self, before: Answer, answer: Answer) -> None:
        """Take in another line of a message."""
        old, new = before.message, answer.message
        if old is None or new is None:  # never: only lines with a message are kept
            return
        if before.timestamp is None:
            before.timestamp = answer.timestamp
        if new.usage is None:
            return
        if old.usage is None or (new.usage.output_tokens or 0) >= (old.usage.output_tokens or 0):
            before.message = new
            before.is_api_error_message = answer.is_api_error_message

    def _next_to(self, told: Told) -> str:
        """Name a message without any id: the one right before it, else after its own uuid."""
        place = (told.answer.is_sidechain, told.answer.agent_id)
        if self.is_parted or not self._unnamed or place != self._place:
            # A fork keeps the uuids, so the copies in other files have the same name.
            self._unnamed = f"line {told.uuid or f'{self._numbered} of {self.found.name}'}"
            self._numbered += not told.uuid
            self.is_parted, self._place = False, place
        return self._unnamed

    def add_calls(self, key: str, message: Message) -> None:
        """Take in the calls that a line of a message makes."""
        if not isinstance(message, CallingMessage) or not isinstance(message.content, list):
            return
        calls = self.calls.setdefault(key, {})
        for block in message.content:
            if block.name and block.type and block.type.endswith("tool_use"):
                # A line that was written twice has the same call again.
                calls.setdefault(block.id or len(calls), block.name)

    def hold(self, key: str, row: Row) -> Held:
        """Return a message with what is needed to go on, as these lines tell it."""
        answer = self.answers[key]
        message = answer.message
        marks = 0 if answer.timestamp is None else TIMED
        if message is not None:
            is_counted = message.model != SYNTHETIC and not answer.is_api_error_message
            marks |= (COUNTED if is_counted else 0) | (0 if message.usage is None else USED)
        ids = (lasting_hash(id_) if isinstance(id_, str) else 0 for id_ in self.calls.get(key, ()))
        return Held(row, marks, b"".join(id_.to_bytes(8, "little") for id_ in ids))

    def write_rows(
        self, agent: str | None, held: dict[Any, Any], *, is_placed: bool, is_all: bool = False
    ) -> None:
        """Make the rows, or with `is_all` one of every message, counted or not.

        Most are of the same model, terms and place as the row before.
        """
        rows, calls = self.found.rows, self.calls
        place: Place = (self.found.name, agent, None)
        plain = _NO_TERMS
        tier = speed = geo = model = None
        for key, answer in self.answers.items():
            message = answer.message
            if message is None:
                continue
            if (message.model == SYNTHETIC or answer.is_api_error_message) and not is_all:
                continue
            if message.model != model:
                model = held.setdefault(message.model, message.model)
            if is_placed and isinstance(answer, PlacedAnswer):
                place = _place(answer, agent, place)
            called = tuple(calls[key].values()) if key in calls else ()
            usage = message.usage
            if usage is None:
                rows[key] = (answer.timestamp, 0, 0, 0, 0, 0, model, _NO_TERMS, place, called)
                continue
            if usage.service_tier != tier or usage.speed != speed or usage.inference_geo != geo:
                tier, speed, geo = usage.service_tier, usage.speed, usage.inference_geo
                plain = (tier or None, speed or None, geo or None, 0, 0, ())
                plain = held.setdefault(plain, plain)
            terms, asked = plain, usage.server_tool_use
            if usage.iterations or (asked and (asked.web_search_requests or asked.web_fetch_requests)):
                terms = (*plain[:3], *searches_of(usage), advisers_of(usage))
                terms = held.setdefault(terms, terms)
            # As `written_to_cache` does it, without the calls.
            short, long, split = usage.cache_creation_input_tokens or 0, 0, usage.cache_creation
            if split is not None:
                long = split.ephemeral_1h_input_tokens or 0
                if short == 0:
                    short = split.ephemeral_5m_input_tokens or 0
                elif long:
                    long = min(long, short)
                    short -= long
            rows[key] = (
                answer.timestamp,
                usage.output_tokens or 0,
                usage.input_tokens or 0,
                usage.cache_read_input_tokens or 0,
                short,
                long,
                model,
                terms,
                place,
                called,
            )


def _money(cost: float | None) -> float | None:
    """Return a cost that can be one: 1e999 is read as infinity."""
    return float(cost) if cost is not None and isfinite(cost) else None


_NO_TERMS: Final[Terms] = (None, None, None, 0, 0, ())


def _place(answer: PlacedAnswer, agent: str | None, before: Place) -> Place:
    who = answer.agent_id or agent or (SIDECHAIN if answer.is_sidechain else None)
    branch = answer.git_branch or None
    return before if before[1] == who and before[2] == branch else (before[0], who, branch)
