"""The generated table agrees with genai-prices, but for the differences that are listed here."""

from __future__ import annotations

import ast
import doctest
import subprocess
import sys
from datetime import UTC, datetime
from itertools import product
from pathlib import Path
from statistics import median

import genai_prices
import pytest
from genai_prices.data import providers
from genai_prices.types import ClauseContains, ClauseEquals, ClauseOr, ClauseStartsWith, ModelInfo

from clew.session import prices
from clew.session.pricing import Tokens, canonical, cost
from scripts import make_prices

ANTHROPIC = next(provider for provider in providers if provider.id == "anthropic")

MOMENTS = (
    datetime(2024, 3, 4, tzinfo=UTC),
    datetime(2025, 9, 29, 12, tzinfo=UTC),
    datetime(2026, 3, 12, 23, 59, 59, 999000, tzinfo=UTC),
    datetime(2026, 3, 13, tzinfo=UTC),
    datetime(2026, 10, 14, tzinfo=UTC),
    datetime(2027, 1, 1, tzinfo=UTC),
)

AMOUNTS = (
    Tokens(1_000, 0, 0, 0, 0),
    Tokens(0, 1_000, 0, 0, 0),
    Tokens(0, 0, 1_000, 0, 0),
    Tokens(0, 0, 0, 1_000, 0),
    Tokens(0, 0, 0, 0, 1_000),
    Tokens(110, 33, 11, 7, 5),
    Tokens(100_000, 7, 0, 0, 0),
    Tokens(1, 7, 90_000, 9_000, 1_000),
    Tokens(200_000, 7, 0, 0, 0),
    Tokens(1, 7, 150_000, 40_000, 10_000),
)

FLAT_HERE = "claude-sonnet-4-5"
"""genai-prices charges it double above 200,000 tokens of prompt, the client and the table do not."""


def source_cost(
    model: ModelInfo, tokens: Tokens, moment: datetime, *, searches: int = 0, batch: bool = False
) -> float:
    used = genai_prices.Usage(
        input_tokens=tokens.prompt,
        output_tokens=tokens.output,
        cache_read_tokens=tokens.cache_read,
        cache_write_tokens=tokens.cache_write_5m + tokens.cache_write_1h,
        cache_write_1h_tokens=tokens.cache_write_1h,
        web_searches=searches,
    )
    context = {"processing": "batch"} if batch else None
    found = model.calc_price(used, ANTHROPIC, genai_request_timestamp=moment, price_context=context)
    return float(found.total_price)


def milliseconds(moment: datetime) -> int:
    return round(moment.timestamp() * 1000)


def is_flat_here(model: ModelInfo, tokens: Tokens) -> bool:
    return model.id == FLAT_HERE and tokens.prompt > 200_000


@pytest.mark.parametrize("model", ANTHROPIC.models, ids=lambda model: model.id)
def test_every_model_costs_what_the_source_says_on_every_day(model: ModelInfo) -> None:
    compared = 0
    for tokens, moment in product(AMOUNTS, MOMENTS):
        if is_flat_here(model, tokens):
            continue
        ours = cost(model.id, tokens, time_ms=milliseconds(moment))
        assert ours == pytest.approx(source_cost(model, tokens, moment), rel=1e-12), (tokens, moment)
        compared += 1
    assert compared >= (len(AMOUNTS) - 1) * len(MOMENTS)


def test_the_one_model_that_is_flat_here_is_dearer_at_the_source() -> None:
    """When this fails the source has come round, and the overlay can go."""
    (model,) = [model for model in ANTHROPIC.models if model.id == FLAT_HERE]
    tokens = Tokens(input=300_000, output=1_000)
    assert cost(model.id, tokens) == 0.915
    assert source_cost(model, tokens, MOMENTS[-1]) == pytest.approx(1.8225)


@pytest.mark.parametrize(
    "model", [model for model in ANTHROPIC.models if model.price_variants], ids=lambda model: model.id
)
def test_the_batch_tier_costs_what_the_source_says_from_the_day_it_lists_it(model: ModelInfo) -> None:
    for tokens in AMOUNTS:
        if not is_flat_here(model, tokens):
            ours = cost(model.id, tokens, time_ms=milliseconds(MOMENTS[-1]), service_tier="batch")
            assert ours == pytest.approx(source_cost(model, tokens, MOMENTS[-1], batch=True), rel=1e-12)


def test_web_searches_cost_what_the_source_says() -> None:
    unsearched: list[str] = []
    for model in ANTHROPIC.models:
        expected = source_cost(model, Tokens(), MOMENTS[-1], searches=7)
        if expected:
            assert cost(model.id, Tokens(), web_searches=7) == pytest.approx(expected, rel=1e-12)
        else:
            unsearched.append(model.id)
    # Models without web search: the table has one price for all, and no session of theirs holds a search.
    assert unsearched == [
        "claude-2",
        "claude-3-haiku",
        "claude-3-opus-latest",
        "claude-3-sonnet",
        "claude-v1",
    ]


def test_every_spelling_the_source_matches_is_the_same_model_here() -> None:
    for model in ANTHROPIC.models:
        clauses = model.match.or_ if isinstance(model.match, ClauseOr) else [model.match]
        for clause in clauses:
            match clause:
                case ClauseStartsWith(starts_with=text) if text.endswith("-2025"):
                    spelling = text + "0514"
                case ClauseStartsWith(starts_with=text) if text.endswith("@"):
                    spelling = text + "20250514"
                case ClauseStartsWith(starts_with=text):
                    spelling = text
                case ClauseEquals(equals=text) | ClauseContains(contains=text):
                    spelling = text
                case _:
                    spelling = model.id
            assert canonical(spelling) == model.id.removesuffix("-latest"), spelling
            assert model.is_match(spelling)


def test_only_these_models_are_not_from_the_source() -> None:
    listed = {model.id.removesuffix("-latest") for model in ANTHROPIC.models}
    assert set(prices.MODELS) - listed == {
        "claude-fable-5-2",
        "claude-mythos-5",
        "claude-mythos-5-1",
        "claude-mythos-5-2",
        "claude-mythos-preview",
    }
    assert listed <= set(prices.MODELS)
    assert set(prices.FAST) <= set(prices.MODELS)
    assert set(prices.ALIASES.values()) <= set(prices.MODELS)
    assert not set(prices.ALIASES) & set(prices.MODELS)


def test_the_table_is_what_make_prices_writes() -> None:
    assert make_prices.TARGET.read_text(encoding="utf-8") == make_prices.render(), "run `make prices`"


def test_the_table_names_its_source_and_its_day() -> None:
    assert prices.SOURCE.startswith(f"genai-prices {genai_prices.__version__}")
    assert datetime.fromisoformat(prices.DATE).date().isoformat() == prices.DATE


def test_the_table_holds_nothing_but_literals() -> None:
    tree = ast.parse(Path(prices.__file__).read_text(encoding="utf-8"))
    calls = [ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)]
    assert calls == ["frozenset"]


def test_importing_the_table_takes_no_time_to_speak_of() -> None:
    """5 ms is what it may take; the bound has five-fold room, for a busy machine."""
    program = (
        "import sys, time, importlib.util as util\n"
        "spec = util.spec_from_file_location('table', sys.argv[1])\n"
        "start = time.perf_counter()\n"
        "spec.loader.exec_module(util.module_from_spec(spec))\n"
        "print(time.perf_counter() - start)\n"
    )
    command = [sys.executable, "-c", program, prices.__file__]
    took = [
        float(subprocess.run(command, capture_output=True, text=True, check=True).stdout) for _ in range(5)
    ]
    assert median(took) < 0.025


def test_the_page_on_costs_names_this_table_and_its_examples_hold() -> None:
    page = Path(__file__).parents[2] / "docs" / "costs.md"
    source = prices.SOURCE.removesuffix(", with additions")
    assert f"**{source}, prices of {prices.DATE}**" in page.read_text(encoding="utf-8")
    failed, tried = doctest.testfile(str(page), module_relative=False)
    assert (failed, tried) == (0, 3)
