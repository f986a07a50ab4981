"""What clew says a session cost, beside what the real client says: every model it knows, all shapes of usage.

A few long conversations hold all of it, 30 models and 23 shapes, in about half a minute. docs/costs.md tells
which figures differ and why; each of those is measured here too.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from clew.agent.standin import tool_use
from clew.session import prices
from clew.session.pricing import canonical, cost_of, read_usage
from tests.acceptance.talk import QUICK, Talk

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from tests.acceptance.talk import Json, Spent
    from tests.conformance.client import Client

pytestmark = pytest.mark.acceptance

Usage = dict[str, Any]

EXACT = 1e-9
"""Dollars. The client adds floating-point numbers, of which a turn here is the difference of two."""


def writes(five_minutes: int, one_hour: int) -> Usage:
    split = {"ephemeral_5m_input_tokens": five_minutes, "ephemeral_1h_input_tokens": one_hour}
    return {"cache_creation_input_tokens": five_minutes + one_hour, "cache_creation": split}


NONE: Usage = {
    "input_tokens": 0,
    "output_tokens": 0,
    "cache_read_input_tokens": 0,
    "cache_creation_input_tokens": 0,
}
MIXED: Usage = {
    "input_tokens": 1_001,
    "output_tokens": 703,
    "cache_read_input_tokens": 30_011,
    **writes(1_301, 907),
}
CACHED = 30_011 + 1_301 + 907
"""What of `MIXED` is prompt besides its input."""


def prompt_of(tokens: int) -> Usage:
    return {**MIXED, "input_tokens": tokens - CACHED}


ADVISED: Usage = {
    **MIXED,
    "iterations": [
        {"type": "message", **MIXED},
        {"type": "advisor_message", "model": "claude-opus-4-8", **MIXED, "input_tokens": 7_003},
    ],
}

SHAPES: Mapping[str, Usage] = {
    "input": {**NONE, "input_tokens": 1_003},
    "output": {**NONE, "output_tokens": 701},
    "cache read": {**NONE, "cache_read_input_tokens": 20_011},
    "cache write for 5 minutes": {**NONE, **writes(1_301, 0)},
    "cache write for 1 hour": {**NONE, **writes(0, 907)},
    "cache write without a split": {**NONE, "cache_creation_input_tokens": 777},
    "cache writes that disagree": {**MIXED, "cache_creation_input_tokens": 5_000},
    "all kinds": MIXED,
    "thinking": {**MIXED, "output_tokens_details": {"thinking_tokens": 500}},
    "web searches": {**MIXED, "server_tool_use": {"web_search_requests": 3, "web_fetch_requests": 2}},
    "fast": {**MIXED, "speed": "fast"},
    "in the US": {**MIXED, "inference_geo": "us"},
    "anywhere": {**MIXED, "inference_geo": "global"},
    "fast in the US": {**MIXED, "speed": "fast", "inference_geo": "us"},
    "priority": {**MIXED, "service_tier": "priority"},
    "advised": ADVISED,
    "prompt of 100,000": prompt_of(100_000),
    "prompt of 100,001": prompt_of(100_001),
    "prompt of 200,000": prompt_of(200_000),
    "prompt of 200,001": prompt_of(200_001),
    "prompt of 900,000, fast in the US": {**prompt_of(900_000), "speed": "fast", "inference_geo": "us"},
    "answer of 120,000": {**MIXED, "output_tokens": 120_000},
    "batch": {**MIXED, "service_tier": "batch"},
}
HALVED = "batch"
"""The one shape that clew prices otherwise: half, as the API does; the client takes no heed."""

LONG = 90_000
"""After so long a prompt the client may refuse to go on with a model of 200,000 tokens."""

AT_ONCE = 8
"""Models in one conversation, all of which is sent with every request."""

SPELLINGS = (
    # Opus 4 and 4.1 by their own names the client replaces with today's Opus; by Bedrock's it does not.
    "us.anthropic.claude-opus-4-20250514-v1:0",
    "us.anthropic.claude-opus-4-1-20250805-v1:0",
    "claude-sonnet-4-5-20250929",
    "claude-haiku-4-5-20251001",
    "eu.anthropic.claude-sonnet-4-5-20250929-v1:0",
    "claude-sonnet-4-5-20250929[1m]",
)
REPLACED = {"claude-opus-4-0", "claude-opus-4-1"}

UNKNOWN = {
    "claude-2",
    "claude-3-haiku",
    "claude-3-opus",
    "claude-3-sonnet",
    "claude-mythos-preview",
    "claude-v1",
}
"""Models of clew's table that the client 2.1.325 has no price for."""

SAMPLE = ("input", "all kinds", "in the US")
"""The shapes of which these have an answer."""

DEFAULT = "claude-opus-5-5"
"""The model whose prices the client takes for one it does not know."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One answer, and what the client said it cost."""

    model: str
    shape: str
    message_id: str
    cost: float


@dataclass(frozen=True, slots=True)
class Ran:
    """What came of the conversations."""

    config: Path
    turns: tuple[Turn, ...]
    ends: tuple[Spent, ...]
    """The last word of each."""
    offered: tuple[str, ...]


def converse(talk: Talk, model: str) -> Iterator[Turn]:
    """Have an answer of every shape from a model; of a few, where the client does not know the price."""
    talk.choose(model)
    for shape in SAMPLE if model in UNKNOWN else SHAPES:
        talk.usage = usage = SHAPES[shape]
        spent = talk.say(f"{model}, {shape}")
        assert spent.error is None, f"{model}, {shape}: {spent.error}"
        yield Turn(model, shape, talk.ids[-1], spent.cost)
        is_long = sum(usage[name] for name in NONE if name != "output_tokens") > LONG
        if is_long and any(used["contextWindow"] <= 200_000 for used in spent.models.values()):
            # A model with more room takes the long conversation, and says that it is short again.
            talk.choose(QUICK)
            talk.usage = {**NONE, "input_tokens": 1}
            talk.say("go on")
            talk.choose(model)


@pytest.fixture(scope="module")
def ran(client: Client, tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """Conversations with every model about every shape."""
    models = [*(name for name in prices.MODELS if name not in REPLACED), *SPELLINGS]
    folder = tmp_path_factory.mktemp("costs")
    turns: list[Turn] = []
    ends: list[Spent] = []
    offered: set[str] = set()
    for at in range(0, len(models), AT_ONCE):
        with Talk(client, folder, name=f"{at}_") as talk:
            offered |= set(talk.offered())
            for model in models[at : at + AT_ONCE]:
                turns += converse(talk, model)
            talk.choose(QUICK)
            talk.usage = {**NONE, "input_tokens": 1}
            ends.append(talk.say("the end"))
    return Ran(folder / "config", tuple(turns), tuple(ends), tuple(sorted(offered)))


def clew(config: Path, *arguments: str) -> Any:
    """What clew prints as JSON of a config folder."""
    command = [sys.executable, "-m", "clew", *arguments, "--json", "--root", str(config)]
    done = subprocess.run(command, capture_output=True, text=True, env=dict(os.environ), check=True)
    return json.loads(done.stdout)


@pytest.fixture
def ours(ran: Ran) -> dict[str, float | None]:
    """By message what clew says it cost."""
    rows = clew(ran.config, "sql", "SELECT message_id, cost_usd FROM usage")
    return {row["message_id"]: row["cost_usd"] for row in rows}


def test_every_answer_costs_what_the_client_says(ran: Ran, ours: dict[str, float | None]) -> None:
    known = [turn for turn in ran.turns if turn.model not in UNKNOWN and turn.shape != HALVED]
    wrong = [
        f"{turn.model}, {turn.shape}: client {turn.cost:.9f}, clew {ours[turn.message_id]}"
        for turn in known
        if ours[turn.message_id] != pytest.approx(turn.cost, abs=EXACT)
    ]
    assert wrong == []
    models = (set(prices.MODELS) - REPLACED - UNKNOWN) | set(SPELLINGS)
    assert {(turn.model, turn.shape) for turn in known} == {
        (model, shape) for model in models for shape in SHAPES if shape != HALVED
    }
    print(f"\n{len(known)} answers of {len(models)} models cost the same")


def test_only_the_batch_tier_is_priced_otherwise(ran: Ran, ours: dict[str, float | None]) -> None:
    """The client asks the full price for what the API bills at half."""
    halved = [turn for turn in ran.turns if turn.shape == HALVED]
    assert halved
    for turn in halved:
        assert ours[turn.message_id] == pytest.approx(turn.cost / 2, abs=EXACT), turn.model


def test_the_client_has_no_price_for_these_and_guesses(ran: Ran, ours: dict[str, float | None]) -> None:
    """It takes its default model's; clew has the model's own."""
    used = [one for end in ran.ends for one in end.models.items()]
    assert {canonical(name) for name, one in used if one["costBasis"] != "list"} == UNKNOWN
    for turn in ran.turns:
        if turn.model in UNKNOWN:
            usage = read_usage(SHAPES[turn.shape])
            assert turn.cost == pytest.approx(cost_of(DEFAULT, usage), abs=EXACT)
            assert ours[turn.message_id] == pytest.approx(cost_of(turn.model, usage), abs=EXACT)
            assert ours[turn.message_id] != pytest.approx(turn.cost, abs=EXACT)


def test_clew_has_a_price_for_every_model_the_client_offers(ran: Ran) -> None:
    assert DEFAULT in ran.offered
    assert len(ran.offered) >= 4
    assert [model for model in ran.offered if canonical(model) is None] == []


def test_tokens_by_model_are_those_of_the_client(ran: Ran) -> None:
    ours: dict[str, Counter[str]] = {
        row["key"]: Counter[str](row["tokens"]) + Counter[str](searches=row["web_searches"])
        for row in clew(ran.config, "usage", "--by", "model")["rows"]
    }
    theirs: dict[str, Counter[str]] = {}
    for end in ran.ends:
        for name, used in end.models.items():
            # The client goes by the model it was told, the session by the one that was asked.
            theirs.setdefault(name.removesuffix("[1m]"), Counter()).update(
                input=used["inputTokens"],
                output=used["outputTokens"],
                cache_read=used["cacheReadInputTokens"],
                # Where total and split disagree the client prices by the total, as clew counts.
                cache_write_5m=used["cacheCreationInputTokens"] - used["cacheCreationEphemeral1hInputTokens"],
                cache_write_1h=used["cacheCreationEphemeral1hInputTokens"],
                searches=used["webSearchRequests"],
            )
    assert ours == theirs


def test_the_account_the_client_leaves_is_told_beside_ours(ran: Ran, ours: dict[str, float | None]) -> None:
    """All that separates the two is half of what the client asks for the batch tier, and its guesses."""
    rows = clew(ran.config, "usage", "--by", "session")["rows"]
    totals = sorted(end.total for end in ran.ends)
    assert sorted(row["client_cost_usd"] for row in rows) == pytest.approx(totals, abs=EXACT)
    explained = sum(
        (ours[turn.message_id] or 0) - turn.cost
        for turn in ran.turns
        if turn.shape == HALVED or turn.model in UNKNOWN
    )
    assert sum(row["difference_usd"] for row in rows) == pytest.approx(explained, abs=1e-6)
    assert abs(explained) > 0.1


# --- whole sessions: what is on the disk and what is not ---------------------------------------------------


def only(rows: list[Json], session_id: str) -> Json:
    (row,) = [row for row in rows if row["key"] == session_id]
    return row


def test_a_resumed_session_with_sub_agents_costs_what_the_client_says(client: Client, tmp_path: Path) -> None:
    with Talk(client, tmp_path, name="a") as talk:
        talk.usage = MIXED
        call = {"description": "look", "prompt": "look around", "subagent_type": "general-purpose"}
        talk.content = (tool_use("Agent", {**call, "model": "haiku"}, call_id="toolu_1"),)
        session = talk.say("send someone").session_id
        assert len(set(talk.asked)) == 2, "the sub-agent has a model of its own"
    with Talk(client, tmp_path, "--resume", session, name="b") as talk:
        talk.usage = SHAPES["web searches"]
        total = talk.say("and now?").total
    row = only(clew(talk.config, "usage", "--by", "session")["rows"], session)
    assert row["client_cost_usd"] == pytest.approx(total, abs=EXACT)
    assert row["difference_usd"] == pytest.approx(0, abs=EXACT)
    assert row["cost_usd"] > 0.1


def test_a_fork_begins_with_the_costs_of_its_origin_for_the_client_alone(
    client: Client, tmp_path: Path
) -> None:
    """Both sessions hold the copied answer; clew counts it once, with the session that had it first."""
    with Talk(client, tmp_path, name="a") as talk:
        talk.usage = MIXED
        first = talk.say("one")
    with Talk(client, tmp_path, "--resume", first.session_id, "--fork-session", name="b") as talk:
        talk.usage = SHAPES["input"]
        fork = talk.say("two")
    found = clew(talk.config, "usage", "--by", "session")
    origin, copy = only(found["rows"], first.session_id), only(found["rows"], fork.session_id)
    assert origin["difference_usd"] == pytest.approx(0, abs=EXACT)
    assert copy["client_cost_usd"] == pytest.approx(fork.total, abs=EXACT)
    assert copy["difference_usd"] == pytest.approx(-first.total, abs=EXACT)
    assert found["total"]["cost_usd"] == pytest.approx(fork.total, abs=EXACT)


def test_what_the_client_asks_besides_the_conversation_is_the_difference(
    client: Client, tmp_path: Path
) -> None:
    """A web search by its own tool, and a compaction, are requests whose usage no session keeps."""
    with Talk(client, tmp_path, "--allowedTools", "WebSearch", name="a", compacts=True) as talk:
        talk.usage = SHAPES["web searches"]
        one = cost_of(QUICK, read_usage(talk.usage))
        assert one is not None
        talk.content = (tool_use("WebSearch", {"query": "lighthouse keepers"}, call_id="toolu_1"),)
        searched = talk.say("search")
        assert len(talk.asked) == 3, "the call, the search and the answer"
        before = len(talk.asked)
        compacted = talk.say("/compact")
        besides = len(talk.asked) - before
    assert searched.cost == pytest.approx(3 * one, abs=EXACT)
    assert compacted.cost == pytest.approx(besides * one, abs=EXACT)
    row = only(clew(talk.config, "usage", "--by", "session")["rows"], searched.session_id)
    assert row["cost_usd"] == pytest.approx(2 * one, abs=EXACT)
    assert row["difference_usd"] == pytest.approx(-(1 + besides) * one, abs=EXACT)
    assert besides > 0
