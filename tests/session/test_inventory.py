"""The inventory of every recorded session, against counts that share no code with the package."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from clew.format.lines import BytesSource
from clew.session.fold import fold
from clew.session.inventory import Inventory

DATA = Path(__file__).parent.parent / "data"
RECORDED = sorted(DATA.glob("corpus/*/*/projects/**/*.jsonl")) + sorted(DATA.glob("made/**/*.jsonl"))
NOT_TYPED = (
    "<command-name>", "<local-command-", "<bash-", "<task-notification>", "<system-reminder>",
    "Caveat: The messages", "[Request interrupted by user", "This slash command can only be invoked",
)  # fmt: skip


def count(data: bytes) -> dict[str, Any]:
    """Count a session by the plainest means there are."""
    rows: list[dict[str, Any]] = [json.loads(line) for line in data.split(b"\n") if line.strip()]
    names: dict[str, Counter[str]] = {
        key: Counter()
        for key in ("entry_types", "versions", "models", "stop_reasons", "blocks", "session_ids")
    }
    human: set[object] = set()
    calls, results, stops = set[str](), set[str](), dict[str, str | None]()
    loose = 0
    for number, row in enumerate(rows):
        message: Any = row.get("message", {})
        kind: str = row.get("type") or message["role"]
        inside: Any = row.get("data" if kind == "progress" else "attachment", {})
        inner = row.get("subtype") or row.get("operation") or inside.get("type")
        names["entry_types"][kind if kind in ("user", "assistant") or not inner else f"{kind}/{inner}"] += 1
        for field, name in (("version", "versions"), ("sessionId", "session_ids")):
            names[name].update([row[field]] if field in row else [])
        if kind not in ("user", "assistant"):
            continue
        content: Any = message["content"] if message else row.get("content")
        blocks: list[Any] = [] if isinstance(content, str) else content
        names["blocks"].update(block["type"] for block in blocks)
        calls |= {block["id"] for block in blocks if block["type"] == "tool_use"}
        results |= {block["tool_use_id"] for block in blocks if block["type"] == "tool_result"}
        if kind == "assistant":
            names["models"].update([message["model"]] if "model" in message else [])
            names["stop_reasons"][str(message.get("stop_reason") or "null")] += 1
            loose += "id" not in message
            key = message.get("id") or f"loose {loose}"
            stops[key] = message.get("stop_reason") or stops.get(key)
            continue
        words = content if isinstance(content, str) else "".join(block.get("text", "") for block in blocks)
        is_skill = "<command-name>" in words and "<command-name>/" not in words
        is_client = row.get("isMeta") or row.get("isCompactSummary") or row.get("isSidechain") or is_skill
        has_result = any(block["type"] == "tool_result" for block in blocks)
        if content and not is_client and not has_result and not words.startswith(NOT_TYPED):
            human.add(row.get("uuid", number))
    return {
        **{name: dict(counts) for name, counts in names.items()},
        "bytes": len(data),
        "lines": data.count(b"\n") + (not data.endswith(b"\n") and bool(data)),
        "human_turns": len(human),
        "tool_calls": len(calls),
        "tool_results": len(results),
        "unpaired_calls": len(calls - results),
        "unpaired_results": len(results - calls),
        "damaged": 0,
        "messages": {"count": len(stops), "stop_reasons": dict(Counter(s or "null" for s in stops.values()))},
    }


def test_there_are_recordings_of_every_era() -> None:
    versions = {path.parts[path.parts.index("corpus") + 1] for path in RECORDED if "corpus" in path.parts}
    assert len(RECORDED) > 300
    assert versions == {"1.0.35", "2.0.42", "2.0.76", "2.1.29", "2.1.45", "2.1.150", "2.1.325"}


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: str(path.relative_to(DATA)))
def test_the_inventory_of_a_recorded_session_is_what_a_plain_script_counts(path: Path) -> None:
    data = path.read_bytes()
    inventory = Inventory()
    extent = fold(BytesSource(data), inventory)
    assert inventory.result(extent).as_dict() == count(data)
