"""Sessions of `clew run` as others read them: the vendor's own SDK, `clew check`, and field by field."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

import pytest

from clew.format.known import is_known_type, kind_of
from clew.session.check import check
from tests.acceptance.run_lab import SESSION, Place, lines, problems
from tests.acceptance.run_stories import STORIES
from tests.agent.test_lines import always, fields, sort_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

pytestmark = pytest.mark.acceptance

LEFT: Mapping[str, set[str]] = {"killed": {"torn-line", "unpaired-call"}}
"""What is wrong with the file of a process that was killed."""


def said(found: Iterable[Mapping[str, Any]]) -> list[str]:
    """The lines a reader shows: what was said since the last compaction, but not to the model alone."""
    shown: list[str] = []
    for line in found:
        if line.get("subtype") == "compact_boundary":
            shown.clear()
        if line.get("type") in {"user", "assistant"} and not line.get("isMeta"):
            shown.append(line["uuid"])
    return shown


@pytest.mark.parametrize("name", STORIES)
def test_others_read_what_clew_run_wrote(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    place = Place(tmp_path)
    STORIES[name](place)
    data = place.file.read_bytes()
    assert problems(data) == LEFT.get(name, set())
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(place.config))
    sdk: Any = importlib.import_module("claude_agent_sdk")
    assert [one.uuid for one in sdk.get_session_messages(SESSION)] == said(lines(data))
    assert [one.session_id for one in sdk.list_sessions()] == [SESSION]
    agents = sorted(place.config.rglob("agent-*.jsonl"))
    assert sorted(sdk.list_subagents(SESSION)) == sorted(path.stem.removeprefix("agent-") for path in agents)
    calls: set[str] = set()
    for path in agents:
        inner = path.read_bytes()
        assert not check(inner).problems
        read = sdk.get_subagent_messages(SESSION, path.stem.removeprefix("agent-"))
        assert [one.uuid for one in read] == [line["uuid"] for line in lines(inner) if "message" in line]
        calls |= {one.parent_tool_use_id for one in read}
    assert calls == {"sub_agent": {"toolu_1"}, "nested_sub_agents": {"toolu_1", "toolu_deep"}}.get(
        name, set()
    )
    # Every field is there that the client always writes on such a line.
    for line in [*lines(data), *(line for path in agents for line in lines(path.read_bytes()))]:
        wanted = always().get(sort_of(line), frozenset())
        assert wanted <= fields(line), f"{sort_of(line)}: {sorted(wanted - fields(line))}"
        assert is_known_type(kind_of(line))
