"""Tokens and money from the catalog: to the token and the cent what reading the files says."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, get_args

import pytest

from clew.actions.usage import Request, usage
from clew.catalog.place import catalog_folder
from clew.session.accounts import By
from clew.store.files import Store
from tests.actions.stores import CORPUS, MADE, index, made
from tests.builder import Builder
from tests.faces.stage import write

if TYPE_CHECKING:
    from pathlib import Path

NOW = 1_794_800_000_000
ZONES = ("UTC", "Europe/Berlin", "Asia/Kolkata", "America/New_York")
PERIODS = {
    "all": (None, None),
    "from a day on": ("2026-03-02", None),
    "to a moment": (None, "2026-03-02T10:07:33.210Z"),
    "within": ("2025-11-03T05:11:12.345Z", "2026-06-03T05:11:59Z"),
    "a minute": ("2026-03-01T10:14:30Z", "2026-03-01T10:15:30Z"),
    "less than a quarter": ("2026-03-01T10:14:59.999Z", "2026-03-01T10:15:00Z"),
    "a quarter": ("2026-03-01T10:00:00Z", "2026-03-01T10:15:00Z"),
    "nothing": ("2026-03-02", "2026-03-01"),
}


def document(root: Path, by: Any, *, use_index: bool, **more: Any) -> dict[str, Any]:
    """Return the JSON document."""
    found = usage(Request(by, (str(root),), use_index=use_index, **more), now=NOW)
    return json.loads(json.dumps(found.as_json()))


def assert_same(root: Path, by: str, **more: Any) -> None:
    assert document(root, by, use_index=True, **more) == document(root, by, use_index=False, **more), more


@pytest.mark.parametrize("name", MADE)
@pytest.mark.parametrize("by", get_args(By))
def test_the_catalog_adds_up_to_what_the_files_say(name: str, by: str, tmp_path: Path) -> None:
    root = made(name, tmp_path)
    index(root)
    for since, until in PERIODS.values():
        assert_same(root, by, tz="UTC", since=since, until=until)


@pytest.mark.parametrize("name", MADE)
@pytest.mark.parametrize("by", ["day", "week", "month", "block"])
def test_so_it_does_in_every_zone(name: str, by: str, tmp_path: Path) -> None:
    root = made(name, tmp_path)
    index(root)
    for tz in ZONES:
        for since, until in (PERIODS["all"], PERIODS["within"]):
            assert_same(root, by, tz=tz, since=since, until=until)


@pytest.mark.parametrize("version", sorted({root.parent.name for root in CORPUS}))
def test_so_it_does_for_every_client_of_the_corpus(version: str) -> None:
    for root in CORPUS:
        if root.parent.name == version:
            index(root)
            for by in get_args(By):
                assert_same(root, by, tz="Asia/Kolkata")


def test_so_it_does_after_a_line_more_and_a_file_less(tmp_path: Path) -> None:
    root = made("bench", tmp_path)
    index(root)
    first, second, *_ = sorted((root / "projects").glob("*/*.jsonl"))
    talk = Builder("x").prompt("More").answer("Yes.", message_id="n1", output=[77])
    first.write_bytes(first.read_bytes() + talk.data())
    for by in ("day", "session", "tool"):
        assert_same(root, by, tz="UTC")
    second.unlink()
    for by in ("day", "session", "tool"):
        assert_same(root, by, tz="UTC")


def test_the_clients_own_account_stands_beside_a_session(tmp_path: Path) -> None:
    talk = Builder("s").prompt("Hi").answer("Yes.", output=[900])
    talk.line({"type": "cost-state", "sessionId": "s", "cost": {"totalCostUSD": 0.5}})
    write(tmp_path, "-p", {"s": talk.data()})
    index(tmp_path)
    assert_same(tmp_path, "session")


def test_an_answer_without_a_catalog_builds_none_and_is_the_same(tmp_path: Path) -> None:
    root = made("demo", tmp_path)
    assert_same(root, "day")
    assert not catalog_folder(Store.at([str(root)]).roots.found).exists()


def test_an_old_time_in_a_zone_that_was_ahead_by_minutes_is_read_from_the_files(tmp_path: Path) -> None:
    root = made("odd", tmp_path)
    index(root)
    for by in ("day", "month"):
        assert_same(root, by, tz="Europe/Amsterdam")


def test_a_hundred_thousand_tokens_more_make_a_prompt_dearer_in_the_sums_too(tmp_path: Path) -> None:
    """The price of a long prompt holds for that message alone, though it stands beside short ones."""
    model = "claude-sonnet-4-6"
    talk = Builder("s").prompt("Hi")
    for number, size in enumerate((10, 199_998, 200_001, 900_000)):
        used = {"input_tokens": size, "output_tokens": 10, "cache_read_input_tokens": 1}
        said: dict[str, Any] = {"id": f"m{number}", "model": model, "role": "assistant", "usage": used}
        talk.entry("assistant", message=said)
    write(tmp_path, "-p", {"s": talk.data()})
    index(tmp_path)
    for by in get_args(By):
        assert_same(tmp_path, by)
    (row,) = document(tmp_path, "model", use_index=True)["rows"]
    # In millionths of a dollar, by hand: input, output and cache reads, twice at each of the two prices.
    short = 3.0 * (10 + 199_998) + 15.0 * 20 + 0.3 * 2
    long = 6.0 * (200_001 + 900_000) + 22.5 * 20 + 0.6 * 2
    assert row["cost_usd"] == pytest.approx((short + long) / 1e6)
