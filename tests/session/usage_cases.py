"""Small stores whose tokens are known by construction, each with one thing that is easily counted wrong.

What an answer used is put down once, where the answer is made; its lines, and copies of them, say the same or
less. `tests/acceptance/test_peer_totals.py` shows that other programs do count these wrong.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, Any, cast

from clew.session.pricing import Tokens
from tests.builder import MODEL, Builder, text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from tests.builder import Json

ONE = "aaaaaaaa-0000-4000-8000-000000000001"
TWO = "bbbbbbbb-0000-4000-8000-000000000002"
AGENT = "a1b2c3d4"

USED = Tokens(input=100, output=40, cache_read=1_000, cache_write_5m=200)


@dataclass(frozen=True, slots=True)
class Case:
    """A store: the files of one project folder, and what all answers in them used together."""

    name: str
    files: Mapping[str, bytes]
    truth: Tokens
    answers: int


class _Store:
    """A store in the making. The truth grows with each answer, never with a line."""

    def __init__(self, *, with_request_ids: bool = True) -> None:
        self._truth = Tokens()
        self._answers = 0
        self._with_request_ids = with_request_ids

    def answer(
        self,
        session: Builder,
        used: Tokens = USED,
        *,
        outputs: Sequence[int] = (USED.output,),
        **changes: object,
    ) -> Builder:
        """Add an answer, a line for each of `outputs`: what that line says of the output so far."""
        self._truth += used
        self._answers += 1
        number = self._answers
        own = {"requestId": f"req_{number}"} if self._with_request_ids else {}
        for line, output in enumerate(outputs):
            message = {
                "id": f"msg_{number}",
                "type": "message",
                "role": "assistant",
                "model": MODEL,
                "content": [text(f"Part {line} of answer {number}.")],
                "stop_reason": "end_turn",
                "usage": {**_usage(used), "output_tokens": output, **changes},
            }
            session.entry("assistant", message=message, **own)
        return session

    def case(self, name: str, files: Mapping[str, bytes]) -> Case:
        return Case(name, files, self._truth, self._answers)


def _usage(used: Tokens) -> Json:
    return {
        "input_tokens": used.input,
        "cache_read_input_tokens": used.cache_read,
        "cache_creation_input_tokens": used.cache_write_5m + used.cache_write_1h,
        "cache_creation": {
            "ephemeral_5m_input_tokens": used.cache_write_5m,
            "ephemeral_1h_input_tokens": used.cache_write_1h,
        },
    }


def _session(session_id: str = ONE) -> Builder:
    return Builder(session_id, version="2.1.88")


def _rewritten(data: bytes, change: Callable[[dict[str, Any]], Json], *, is_spaced: bool = False) -> bytes:
    separators = (", ", ": ") if is_spaced else (",", ":")
    lines = [change(json.loads(line)) for line in data.splitlines()]
    return b"".join(json.dumps(line, separators=separators).encode() + b"\n" for line in lines)


def respelled() -> Case:
    """Keys in another order and blanks behind the separators, as when a tool has written the file anew."""
    store, one, random = _Store(), _session(), Random(1)
    for _ in range(3):
        store.answer(one.user("go on"))

    def shuffled(value: object) -> Any:
        if not isinstance(value, dict):
            return value
        items = list(cast("dict[str, object]", value).items())
        random.shuffle(items)
        return {key: shuffled(inner) for key, inner in items}

    return store.case("respelled", {f"{ONE}.jsonl": _rewritten(one.data(), shuffled, is_spaced=True)})


def without_request_ids() -> Case:
    """Answers of several lines, each of which tells the usage of the whole; no line has a `requestId`."""
    store, one = _Store(with_request_ids=False), _session()
    store.answer(one.user("go on"), outputs=(40, 40, 40))
    store.answer(one.user("go on"), outputs=(40, 40))
    return store.case("without request ids", {f"{ONE}.jsonl": one.data()})


def resumed_copy() -> Case:
    """A second file with the lines of the first under new uuids, and without their request ids."""
    store, one = _Store(), _session()
    for _ in range(3):
        store.answer(one.user("go on"))

    def copied(line: dict[str, Any]) -> Json:
        line.pop("requestId", None)
        parent = line["parentUuid"]
        return line | {"sessionId": TWO, "uuid": f"c{line['uuid']}", "parentUuid": parent and f"c{parent}"}

    copy = _rewritten(one.data(), copied)
    return store.case("resumed copy", {f"{ONE}.jsonl": one.data(), f"{TWO}.jsonl": copy})


def fork() -> Case:
    """A second session that begins with the lines of the first, as `--fork-session` writes them."""
    store, one = _Store(), _session()
    for _ in range(3):
        store.answer(one.user("go on"))
    origin = one.data()
    # The same builder goes on, so that no uuid of the copy is given a second time.
    store.answer(one.wait(600).user("another way"))
    copy = _rewritten(one.data(), lambda line: line | {"sessionId": TWO})
    return store.case("fork", {f"{ONE}.jsonl": origin, f"{TWO}.jsonl": copy})


def rewound() -> Case:
    """A session taken back to its first answer: what was said before that was paid for too."""
    store, one = _Store(), _session()
    store.answer(one.user("go on"))
    first = one.leaf
    store.answer(one.user("this way"))
    store.answer(one.rewind(first).user("no, that way"))
    store.answer(one.user("go on"))
    return store.case("rewound", {f"{ONE}.jsonl": one.data()})


def subagent_beside() -> Case:
    """A sub-agent's file beside those of the sessions, where the clients 2.0.42 to 2.0.76 put it."""
    store, one, agent = _Store(), _session(), _session()
    store.answer(one.user("send someone"))
    store.answer(agent.user("look around", isSidechain=True), outputs=(40, 40))
    store.answer(agent.user("go on"))
    inside = _rewritten(agent.data(), lambda line: line | {"isSidechain": True, "agentId": AGENT})
    return store.case("sub-agent", {f"{ONE}.jsonl": one.data(), f"agent-{AGENT}.jsonl": inside})


def streamed() -> Case:
    """Lines written while the answer came in: the last of them need not be the one with the final count."""
    store, one = _Store(with_request_ids=False), _session()
    store.answer(one.user("go on"), Tokens(100, 700, 1_000, 200), outputs=(1, 700, 1))
    store.answer(one.user("go on"), Tokens(100, 300, 1_000, 200), outputs=(1, 1, 300))
    return store.case("streamed", {f"{ONE}.jsonl": one.data()})


def one_hour() -> Case:
    """Writes to the cache for an hour; in the second answer only the split tells of them."""
    store, one = _Store(), _session()
    store.answer(one.user("go on"), Tokens(100, 40, 1_000, 100, 5_000))
    store.answer(one.user("go on"), Tokens(100, 40, 1_000, 10, 3_000), cache_creation_input_tokens=0)
    return store.case("one hour", {f"{ONE}.jsonl": one.data()})


def torn() -> Case:
    """A line that broke off, and an answer written right behind it."""
    store, one = _Store(), _session()
    store.answer(one.user("go on"))
    whole = len(one.user("a question that was never finished").data())
    store.answer(one)
    store.answer(one.user("go on"))
    data = one.data()
    return store.case("torn", {f"{ONE}.jsonl": data[: whole - 100] + data[whole:]})


CASES = (
    respelled(),
    without_request_ids(),
    resumed_copy(),
    fork(),
    rewound(),
    subagent_beside(),
    streamed(),
    one_hour(),
    torn(),
)
