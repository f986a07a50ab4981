"""The vendor's own library is the judge: it reads our stand-in, and comes to what our door comes to."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, cast

import pytest

from clew.agent.door import Door
from clew.agent.keys import Key
from clew.agent.standin import Failure, Pace, Raw, Reply, StandIn, text, thinking, tool_use
from clew.agent.stream_events import BlockEnded, Ended
from clew.agent.trying import Patience
from tests.agent.streams import CITATION, ODD, sent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

ASK: dict[str, Any] = {"model": "m", "max_tokens": 5, "messages": [{"role": "user", "content": "hi"}]}


@pytest.fixture
def library() -> Iterator[Callable[[str], Any]]:
    anthropic: Any = pytest.importorskip("anthropic")
    opened: list[Any] = []

    def make(url: str) -> Any:
        opened.append(anthropic.Anthropic(api_key="fake", base_url=url, max_retries=2))
        return opened[-1]

    yield make
    for client in opened:
        client.close()


def plain(message: Any) -> dict[str, Any]:
    """A message of the library as the API wrote it: without the fields it adds."""
    return cast("dict[str, Any]", json.loads(message.to_json(exclude_unset=True)))


def streamed(client: Any) -> dict[str, Any]:
    with client.messages.stream(**ASK) as stream:
        return plain(stream.get_final_message())


def ours(api: StandIn) -> tuple[list[Mapping[str, Any]], Ended]:
    patience = Patience(first_wait=0.01)
    with Door(api.url, Key("fake"), user_agent="c", environ={}, patience=patience) as door:
        events = list(door.stream(ASK))
    blocks = {event.index: event.block for event in events if isinstance(event, BlockEnded)}
    assert isinstance(events[-1], Ended)
    return [blocks[at] for at in sorted(blocks)], events[-1]


COUNTS = {"input_tokens": 3, "output_tokens": 4}
REPLIES = {
    "text": Reply((text("Hello \U0001f9f5."),)),
    "nothing": Reply(),
    "thinking": Reply((thinking("hm"), text("a"))),
    "calls": Reply(
        (text("a"), tool_use("R", {"a": [1, None, "x"]}, call_id="t1"), tool_use("L", {}, call_id="t2"))
    ),
    "hidden": Reply(({"type": "redacted_thinking", "data": "x"}, text("a"))),
    "cited": Reply(({**text("a"), "citations": [CITATION]},)),
    "cut short": Reply((text("a"),), stop_reason="max_tokens"),
    "a word to stop at": Reply((text("a"),), stop_reason="stop_sequence", stop_sequence="END"),
    "cached": Reply((text("a"),), usage={**COUNTS, "cache_read_input_tokens": 5}),
}


@pytest.mark.parametrize("name", REPLIES)
@pytest.mark.parametrize("piece", [None, 1])
def test_the_library_reads_what_the_stand_in_says(
    name: str, piece: int | None, library: Callable[[str], Any]
) -> None:
    from dataclasses import replace

    reply = replace(REPLIES[name], message_id="msg_1", pace=Pace(piece=piece))
    with StandIn(default=reply) as api:
        client = library(api.url)
        whole = plain(client.messages.create(**ASK))
        read = streamed(client)
        blocks, ended = ours(api)
    assert whole["content"] == read["content"] == blocks == [dict(block) for block in reply.content]
    assert whole["usage"] == read["usage"] == ended.usage == reply.usage
    for name_ in ("id", "model", "stop_reason", "stop_sequence"):
        assert whole[name_] == read[name_]
    assert (read["stop_reason"], read["stop_sequence"]) == (ended.stop_reason, ended.stop_sequence)


@pytest.mark.parametrize("name", ODD)
def test_the_door_comes_to_what_the_library_comes_to(name: str, library: Callable[[str], Any]) -> None:
    with StandIn(default=Raw((sent(*ODD[name]),))) as api:
        read = streamed(library(api.url))
        blocks, ended = ours(api)
    assert blocks == read["content"]
    assert ended.usage == read["usage"]
    assert ended.stop_reason == read["stop_reason"]


def test_the_library_counts_tokens_and_tries_again(library: Callable[[str], Any]) -> None:
    with StandIn([Failure(529, "overloaded_error", "busy", retry_after=0.01)]) as api:
        client = library(api.url)
        assert plain(client.messages.create(**ASK))["content"] == [{"type": "text", "text": "ok"}]
        counted = client.messages.count_tokens(model="m", messages=ASK["messages"])
        with Door(api.url, Key("fake"), user_agent="c", environ={}) as door:
            assert door.count_tokens(ASK) == counted.input_tokens
        assert len(api.requests) == 4


@pytest.mark.parametrize(
    ("status", "name"),
    [(400, "BadRequestError"), (401, "AuthenticationError"), (404, "NotFoundError"), (429, "RateLimitError")],
)
def test_the_library_takes_our_failures_for_those_of_the_api(
    status: int, name: str, library: Callable[[str], Any]
) -> None:
    with StandIn(default=Failure(status, message="said", headers={"x-should-retry": "false"})) as api:
        client = library(api.url)
        with pytest.raises(Exception, match="said") as caught:
            client.messages.create(**ASK)
    assert type(caught.value).__name__ == name
    assert getattr(caught.value, "request_id", None) == "req_standin_000000"
