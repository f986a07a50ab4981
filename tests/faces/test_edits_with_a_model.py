"""Edits that ask a model: a summary it writes, and tokens as the API counts them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, cast

import pytest

from clew.agent.standin import Reply, StandIn, text
from clew.agent.token_count import count_tokens
from tests.faces.test_edits import conversations, root

if TYPE_CHECKING:
    from pathlib import Path

    from tests.faces.console import Console

__all__ = ["root"]


def longest(clew: Console, folder: Path) -> str:
    """The session with the most lines."""
    return str(max(conversations(clew, folder), key=lambda one: one["lines"] or 0)["id"])


def context(clew: Console, folder: Path, session: str) -> dict[str, Any]:
    return cast("dict[str, Any]", json.loads(clew("context", session, "--json", "--root", folder).out))


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "test-key")


def test_a_summary_is_written_by_a_model_from_the_turns_it_stands_for(clew: Console, root: Path) -> None:
    session = longest(clew, root)
    before = context(clew, root, session)["messages"]
    with StandIn([Reply((text("<summary>They built a tower.</summary>"),))], strict=True) as api:
        done = json.loads(
            clew("compress", session, "--keep-turns", "1", "--summary", "model", "--base-url", api.url,
                 "--json", "--root", root).out
        )  # fmt: skip
        assert not api.refusals
        (request,) = [one for one in api.requests if one.is_messages]
    asked = cast("list[dict[str, Any]]", request.body["messages"])
    assert 1 < len(asked) <= len(before)
    plain = [[one for one in message["content"] if one["type"] != "thinking"] for message in before]
    sent = [[{k: v for k, v in one.items() if k != "cache_control"} for one in m["content"]] for m in asked]
    assert sent[:-1] == plain[: len(sent) - 1]
    assert "summary" in str(sent[-1][-1]["text"])
    after = context(clew, root, done["result"]["id"])["messages"]
    assert "They built a tower." in after[0]["content"][0]["text"]


def test_a_model_that_writes_nothing_makes_no_session(clew: Console, root: Path) -> None:
    session = longest(clew, root)
    count = len(conversations(clew, root))
    with StandIn([Reply((text(" "),))]) as api:
        failed = clew("compress", session, "--keep-turns", "1", "--summary", "model", "--base-url", api.url,
                      "--root", root)  # fmt: skip
    assert failed.code == 1
    assert "wrote no summary" in failed.err
    assert len(conversations(clew, root)) == count


def test_a_dry_run_asks_no_model(clew: Console, root: Path) -> None:
    session = longest(clew, root)
    with StandIn() as api:
        told = clew("compress", session, "--keep-turns", "1", "--summary", "model", "--base-url", api.url,
                    "--dry-run", "--root", root)  # fmt: skip
        assert told.code == 0
        assert not api.requests


def test_tokens_are_counted_by_the_api_when_that_is_asked_for(clew: Console, root: Path) -> None:
    session = longest(clew, root)
    with StandIn(strict=True) as api:
        told = json.loads(
            clew("trim", session, "--tools", "all", "--count-tokens", "--base-url", api.url, "--dry-run",
                 "--json", "--root", root).out
        )  # fmt: skip
        counts = [one for one in api.requests if one.is_count]
        assert not api.refusals
    assert told["context_tokens_counted"] is True
    assert 0 < told["context_tokens_after"] < told["context_tokens_before"]
    # A tool goes along, without which calls are not taken; it does not count.
    assert [bool(one.body.get("tools")) for one in counts] == [True, False, True, False]
    first, last = ({k: v for k, v in counts[at].body.items() if k != "tools"} for at in (0, -1))
    assert (told["context_tokens_before"], told["context_tokens_after"]) == (
        count_tokens(first),
        count_tokens(last),
    )


def test_without_a_key_it_is_said_how_to_give_one(
    clew: Console, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    failed = clew(
        "trim", longest(clew, root), "--tools", "all", "--count-tokens", "--dry-run", "--root", root
    )
    assert failed.code == 1
    assert "ANTHROPIC_API_KEY" in failed.err
