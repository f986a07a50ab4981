"""What a message costs, by the rules of docs/costs.md."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.session import prices
from clew.session.pricing import (
    Tokens,
    Usage,
    cache_writes,
    canonical,
    cost,
    cost_of,
    count,
    dollars,
    price,
    read_usage,
)

ONE_OF_EACH = Tokens(1_000, 1_000, 1_000, 1_000, 1_000)

counts = st.integers(0, 1_000_000)
amounts = st.builds(Tokens, counts, counts, counts, counts, counts)


def day(text: str) -> int:
    return round(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp() * 1000)


# --- the client's own figures --------------------------------------------------------------------------

COST_STATES = (
    # `modelUsage` of three `cost-state` lines that the client 2.1.325 wrote: tokens, and its costUSD.
    ("claude-sonnet-4-5-20250929", Tokens(110, 33, 11, 7, 0), 0.00085455),
    ("claude-sonnet-4-5-20250929", Tokens(2310, 844, 121, 77, 0), 0.01991505),
    ("claude-sonnet-4-5-20250929", Tokens(1440, 745, 88, 56, 0), 0.0157314),
)

MEASURED = (
    # The rates of the client 2.1.325, as its costUSD shows them: a thousand tokens of each of the five kinds.
    ("claude-3-5-haiku-20241022", 0.00748),
    ("claude-3-5-sonnet-latest", 0.02805),
    ("claude-3-7-sonnet-20250219", 0.02805),
    ("claude-sonnet-4-20250514", 0.02805),
    ("us.anthropic.claude-opus-4-20250514-v1:0", 0.14025),
    ("us.anthropic.claude-opus-4-1-20250805-v1:0", 0.14025),
    ("anthropic.claude-sonnet-4-5-20250929-v1:0", 0.02805),
    ("claude-haiku-4-5", 0.00935),
    ("claude-opus-4-5-20251101", 0.04675),
    ("global.anthropic.claude-opus-4-6-v1", 0.04675),
    ("claude-sonnet-4-6", 0.02805),
    ("claude-opus-4-7", 0.04675),
    ("claude-opus-4-8", 0.04675),
    ("claude-opus-5", 0.04675),
    ("claude-sonnet-5", 0.0187),
    ("claude-fable-5", 0.0935),
    ("claude-fable-5-1", 0.09275),
    ("claude-fable-5-2", 0.0742),
    ("claude-mythos-5", 0.0935),
    ("claude-mythos-5-1", 0.09275),
    ("claude-mythos-5-2", 0.0742),
    ("claude-opus-5-5", 0.0372),
    ("claude-sonnet-5-5", 0.0186),
    ("claude-haiku-5-5", 0.000935),
)


@pytest.mark.parametrize(("model", "tokens", "expected"), COST_STATES)
def test_a_cost_state_of_the_client_is_met_to_the_last_digit(
    model: str, tokens: Tokens, expected: float
) -> None:
    assert cost(model, tokens) == expected


@pytest.mark.parametrize(("model", "expected"), MEASURED)
def test_the_client_asks_the_same_for_every_model_it_knows(model: str, expected: float) -> None:
    assert cost(model, ONE_OF_EACH) == expected


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("claude-opus-4-6", 0.2805),
        ("claude-opus-4-7", 0.2805),
        ("claude-opus-4-8", 0.0935),
        ("claude-opus-5", 0.0935),
        ("claude-opus-5-5", 0.0744),
        ("claude-fable-5-2", 0.1484),
        ("claude-mythos-5-2", 0.1484),
        ("claude-opus-4-5", 0.04675),
        ("claude-sonnet-5-5", 0.0186),
        ("claude-mythos-5-1", 0.09275),
    ],
)
def test_fast_mode_multiplies_the_price_of_the_models_that_have_it(model: str, expected: float) -> None:
    assert cost(model, ONE_OF_EACH, speed="fast") == expected


def test_us_inference_costs_a_tenth_more_and_stacks_with_fast_mode() -> None:
    assert cost("claude-opus-5-5", ONE_OF_EACH, inference_geo="us") == 0.04092
    assert cost("claude-sonnet-4-5", ONE_OF_EACH, inference_geo="us") == 0.030855
    assert cost("claude-opus-5-5", ONE_OF_EACH, inference_geo="us", speed="fast") == 0.08184
    assert cost("claude-opus-4-7", ONE_OF_EACH, inference_geo="us", speed="fast") == 0.30855
    for elsewhere in ("", "global", "eu", "not_available", "US"):
        assert cost("claude-opus-5-5", ONE_OF_EACH, inference_geo=elsewhere) == 0.0372


def test_a_web_search_costs_a_cent_whatever_the_speed_and_place() -> None:
    assert cost("claude-opus-5-5", ONE_OF_EACH, web_searches=3) == 0.0672
    assert cost("claude-opus-5-5", ONE_OF_EACH, web_searches=3, speed="fast", inference_geo="us") == 0.11184
    assert cost("claude-opus-5-5", Tokens(), web_searches=3, service_tier="batch") == 0.03


def test_the_batch_tier_halves_tokens_and_other_tiers_change_nothing() -> None:
    assert cost("claude-opus-5-5", ONE_OF_EACH, service_tier="batch") == 0.0186
    for tier in (None, "standard", "priority", "flex"):
        assert cost("claude-opus-5-5", ONE_OF_EACH, service_tier=tier) == 0.0372


def test_a_long_prompt_costs_more_on_haiku_5_5_and_the_cache_counts_towards_it() -> None:
    model = "claude-haiku-5-5"
    assert cost(model, Tokens(input=100_000, output=1_000)) == 0.0105
    assert cost(model, Tokens(input=100_001, output=1_000)) == 0.0525005
    assert cost(model, Tokens(input=1, output=1_000, cache_read=90_000, cache_write_5m=10_000)) == 0.0132505


def test_a_long_prompt_costs_no_more_on_sonnet_4_5() -> None:
    assert cost("claude-sonnet-4-5-20250929[1m]", Tokens(input=300_000, output=1_000)) == 0.915


def test_a_message_is_priced_by_its_own_day() -> None:
    tokens = Tokens(input=300_000, output=1_000)
    last, first = day("2026-03-13") - 1, day("2026-03-13")
    assert cost("claude-opus-4-6", tokens, time_ms=last) == 3.0375
    assert cost("claude-opus-4-6", tokens, time_ms=first) == 1.525
    assert cost("claude-opus-4-6", tokens) == 1.525, "without a time the newest price holds"
    for long_ago in (0, -1, -(1 << 70)):
        assert cost("claude-opus-4-6", tokens, time_ms=long_ago) == 3.0375


# --- names ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "spelling",
    [
        "claude-sonnet-4-5",
        "claude-sonnet-4-5-20250929",
        "claude-sonnet-4-5-2025-09-29",
        "claude-sonnet-4-5-latest",
        "claude-sonnet-4-5-20250929[1m]",
        "CLAUDE-Sonnet-4.5",
        "claude-4.5-sonnet",
        "claude-sonnet-4-5@20250929",
        "claude-sonnet-4-5@default",
        "anthropic.claude-sonnet-4-5-20250929-v1:0",
        "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
        "us.anthropic.claude-sonnet-4-5-20250929-v1:0[1m]",
        "arn:aws:bedrock:us-east-1:1:inference-profile/eu.anthropic.claude-sonnet-4-5-20250929-v1:0",
        "anthropic/claude-sonnet-4.5",
        "openrouter/anthropic/claude-sonnet-4.5:thinking",
        "vertex_ai/claude-sonnet-4-5@20250929",
        "claude-sonnet-4-5-20250929-thinking",
    ],
)
def test_one_model_has_many_spellings(spelling: str) -> None:
    assert canonical(spelling) == "claude-sonnet-4-5"


@pytest.mark.parametrize(
    ("spelling", "model"),
    [
        ("claude-3-5-sonnet-v2@20241022", "claude-3-5-sonnet"),
        ("anthropic.claude-3-5-sonnet-20241022-v2:0", "claude-3-5-sonnet"),
        ("anthropic.claude-3-haiku-20240307-v1:0:200k", "claude-3-haiku"),
        ("anthropic/claude-3.7-sonnet:beta", "claude-3-7-sonnet"),
        ("claude-opus-4-20250514", "claude-opus-4-0"),
        ("claude-sonnet-4@20250514", "claude-sonnet-4-0"),
        ("claude-opus-4-1-20250805", "claude-opus-4-1"),
        ("claude-opus-5-20260723", "claude-opus-5"),
        ("claude-opus-5-5-20260922", "claude-opus-5-5"),
        ("claude-fable-5-1", "claude-fable-5-1"),
        ("claude-2.1", "claude-2"),
    ],
)
def test_spellings_of_neighbours_are_told_apart(spelling: str, model: str) -> None:
    assert canonical(spelling) == model


@pytest.mark.parametrize(
    "name",
    [
        None,
        "",
        "claude",
        "claude-",
        "claude-opus-6",
        "claude-opus-4-10",
        "claude-sonnet-4-50",
        "claude-opus-5-fast",
        "sonnet",
        "opus",
        "gpt-5",
        "deepseek-chat",
        "not-claude-opus-5",
        "claude-opus-5:free",
        "claude-opus-5\n",
        "claude-opus-\ud800",
        "claude-opus-5" + "-" * 10_000_000,
    ],
    ids=lambda name: repr(name)[:30],
)
def test_an_unknown_model_has_an_unknown_cost(name: str | None) -> None:
    assert price(name) is None
    assert cost(name, ONE_OF_EACH) is None
    assert cost(name, Tokens()) is None, "unknown is never zero"
    assert name is None or canonical(name) is None


def test_what_the_client_wrote_itself_costs_nothing() -> None:
    assert cost("<synthetic>", ONE_OF_EACH, web_searches=1, time_ms=0) == 0.0


@given(st.text(max_size=300))
def test_no_name_is_an_error(name: str) -> None:
    found = canonical(name)
    assert found is None or found in prices.MODELS or found in prices.FREE


# --- money ---------------------------------------------------------------------------------------------


def test_every_price_is_a_whole_number_of_picodollars() -> None:
    factors = [fast * us * batch for fast, us, batch in product((1, 2, 6), (1, 1.1), (1, 0.5))]
    for rows in prices.MODELS.values():
        for (_, plain, _, long), factor in product(rows, factors):
            for rate in (*plain, *(long or ())):
                assert math.isclose(rate * factor * 1e6, round(rate * factor * 1e6), abs_tol=1e-6)


@given(amounts, st.sampled_from(sorted(prices.MODELS)), st.integers(0, 99))
def test_every_modifier_is_its_factor_exactly(tokens: Tokens, model: str, searches: int) -> None:
    plain = cost(model, tokens)
    assert plain is not None
    fast = prices.FAST.get(model, 1)
    assert cost(model, tokens, speed="fast") == pytest.approx(plain * fast, rel=1e-12)
    assert cost(model, tokens, inference_geo="us") == pytest.approx(plain * 1.1, rel=1e-12)
    assert cost(model, tokens, service_tier="batch") == pytest.approx(plain / 2, rel=1e-12)
    assert cost(model, tokens, web_searches=searches) == pytest.approx(plain + searches / 100, rel=1e-12)


@given(st.lists(amounts, max_size=20))
def test_what_messages_cost_one_by_one_they_cost_together(messages: list[Tokens]) -> None:
    rates = price("claude-opus-5-5", inference_geo="us")
    assert rates is not None
    charges = [
        rates.charge(one.input, one.output, one.cache_read, one.cache_write_5m, one.cache_write_1h)
        for one in messages
    ]
    together = sum(messages, Tokens())
    assert dollars(sum(charges)) == cost("claude-opus-5-5", together, inference_geo="us")


def test_the_rates_of_a_model_are_one_object_so_that_tokens_can_be_gathered_by_it() -> None:
    assert price("claude-opus-5", time_ms=5) is price("claude-opus-5", time_ms=6, speed="standard")
    assert price("claude-opus-5") is not price("claude-opus-5", speed="fast")


@given(amounts, amounts)
def test_tokens_add_up_kind_by_kind(one: Tokens, other: Tokens) -> None:
    both = one + other
    assert both.total == one.total + other.total == both.prompt + both.output
    assert both.cache_write_1h == one.cache_write_1h + other.cache_write_1h
    assert both == other + one


# --- reading a usage -----------------------------------------------------------------------------------


def test_a_usage_of_the_newest_client_is_read_whole() -> None:
    found = read_usage(
        {
            "input_tokens": 110,
            "cache_creation_input_tokens": 12,
            "cache_read_input_tokens": 11,
            "output_tokens": 33,
            "output_tokens_details": {"thinking_tokens": 0},
            "server_tool_use": {"web_search_requests": 2, "web_fetch_requests": 3},
            "service_tier": "standard",
            "cache_creation": {"ephemeral_1h_input_tokens": 5, "ephemeral_5m_input_tokens": 7},
            "inference_geo": "",
            "iterations": [],
            "speed": "standard",
            "fallback_credit": None,
        }
    )
    assert found == Usage(Tokens(110, 33, 11, 7, 5), 2, 3, "standard", "standard", None, ())


def test_a_usage_of_the_oldest_client_has_the_total_of_cache_writes_alone() -> None:
    found = read_usage({"input_tokens": 4, "cache_creation_input_tokens": 7, "output_tokens": 1})
    assert found == Usage(Tokens(input=4, output=1, cache_write_5m=7))


@pytest.mark.parametrize(
    ("total", "five_minutes", "one_hour", "expected"),
    [
        (2000, 1000, 1000, (1000, 1000)),
        (5000, 1000, 1000, (4000, 1000)),
        (500, 1000, 1000, (0, 500)),
        (0, 1000, 1000, (1000, 1000)),
        (2000, 0, 0, (2000, 0)),
        (2000, 0, 1000, (1000, 1000)),
    ],
)
def test_cache_writes_that_disagree_are_split_as_the_client_does(
    total: int, five_minutes: int, one_hour: int, expected: tuple[int, int]
) -> None:
    assert cache_writes(total, five_minutes, one_hour) == expected


@pytest.mark.parametrize(
    "value", [None, -1, True, False, 3.0, 3.5, "3", [3], {"n": 3}, 10**9 + 1, 2**64, float("nan")], ids=repr
)
def test_what_is_no_count_counts_nothing(value: object) -> None:
    assert count(value) == 0
    names = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    assert (
        read_usage({**dict.fromkeys(names, value), "cache_creation": value, "iterations": value}) == Usage()
    )
    split = {"ephemeral_5m_input_tokens": value, "ephemeral_1h_input_tokens": value}
    tools = {"web_search_requests": value, "web_fetch_requests": value}
    assert read_usage({"cache_creation": split, "server_tool_use": tools}) == Usage()


def test_the_greatest_count_is_still_one() -> None:
    assert count(10**9) == 10**9
    assert count(0) == 0


@pytest.mark.parametrize("value", [None, "", 1, True, [], {}], ids=repr)
def test_what_is_no_word_is_left_out(value: object) -> None:
    assert read_usage({"service_tier": value, "speed": value, "inference_geo": value}) == Usage()


def test_iterations_are_not_counted_twice_but_advisors_are_counted_under_their_own_model() -> None:
    own = {"type": "message", "input_tokens": 1000, "output_tokens": 100}
    advisor = {
        "type": "advisor_message",
        "model": "claude-opus-5-5",
        "input_tokens": 7000,
        "output_tokens": 700,
    }
    used = read_usage({"input_tokens": 1000, "output_tokens": 100, "iterations": [own, advisor]})
    assert used.tokens == Tokens(1000, 100)
    assert used.advisors == (("claude-opus-5-5", Tokens(7000, 700)),)
    assert cost_of("claude-sonnet-5-5", used) == 0.045, "the client 2.1.325 says the same"
    assert cost_of("claude-opus-6", used) is None


def test_an_unknown_advisor_makes_the_cost_unknown() -> None:
    used = Usage(Tokens(1000, 100), advisors=(("gpt-5", Tokens(1, 1)),))
    assert cost_of("claude-sonnet-5-5", used) is None


@pytest.mark.parametrize(
    "iterations",
    [
        None,
        {},
        "x",
        [None, 1, "x", []],
        [{"type": "advisor_message"}],
        [{"type": "compaction", "input_tokens": 5}],
    ],
    ids=repr,
)
def test_iterations_of_another_shape_are_passed_over(iterations: object) -> None:
    assert read_usage({"iterations": iterations}) == Usage()


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
fields = st.sampled_from(
    [
        "input_tokens",
        "output_tokens",
        "cache_read_input_tokens",
        "cache_creation_input_tokens",
        "cache_creation",
        "server_tool_use",
        "service_tier",
        "speed",
        "inference_geo",
        "iterations",
    ]
)


@given(st.dictionaries(fields, json_values))
def test_no_usage_is_an_error_and_no_count_is_negative(usage: dict[str, object]) -> None:
    found = read_usage(usage)
    assert min(found.tokens.input, found.tokens.output, found.tokens.cache_read) >= 0
    assert min(found.tokens.cache_write_5m, found.tokens.cache_write_1h) >= 0
    spent = cost_of("claude-opus-5-5", found)
    assert spent is None or spent >= 0
