"""The corpus is the same for the same seed, and what its truth file says is so."""

from __future__ import annotations

import json
from collections import Counter
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import pytest

from bench.generate import Recipe, generate, one_session, parse_size, slug

if TYPE_CHECKING:
    from pathlib import Path

SIZE = 2_000_000
SMALL = 1_000_000


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("corpus")
    generate(root, Recipe(SIZE))
    return root


def truth_of(root: Path) -> dict[str, Any]:
    return json.loads((root / "truth.json").read_text(encoding="utf-8"))


def lines_of(root: Path) -> dict[str, list[dict[str, Any]]]:
    files = sorted((root / "projects").rglob("*.jsonl"))
    return {
        file.relative_to(root).as_posix(): [json.loads(line) for line in file.read_bytes().split(b"\n")[:-1]]
        for file in files
    }


def naive_count(files: dict[str, list[dict[str, Any]]]) -> dict[str, dict[str, list[int]]]:
    """Count each message once, the plain way: its lines by id, the greatest output, the later on a tie."""
    messages: dict[str, list[dict[str, Any]]] = {}
    oldest: dict[str, str] = {}
    for lines in files.values():
        for line in lines:
            if "timestamp" in line:
                session = line["sessionId"]
                oldest[session] = min(oldest.get(session, "9"), line["timestamp"])
            if line["type"] == "assistant" and line["message"]["model"] != "<synthetic>":
                messages.setdefault(line["message"]["id"], []).append(line)
    groups: dict[str, dict[str, list[int]]] = {"total": {}, "by_model": {}, "by_day": {}, "by_project": {}}
    for lines in messages.values():
        usage = max(reversed(lines), key=lambda line: line["message"]["usage"]["output_tokens"])["message"][
            "usage"
        ]
        written = usage["cache_creation_input_tokens"]
        long = usage.get("cache_creation", {}).get("ephemeral_1h_input_tokens", 0)
        tokens = [usage["input_tokens"], usage["output_tokens"], usage["cache_read_input_tokens"]]
        owner = min(lines, key=lambda line: (oldest[line["sessionId"]], line["timestamp"]))
        keys = ("", owner["message"]["model"], owner["timestamp"][:10], owner["cwd"])
        for group, key in zip(groups.values(), keys, strict=True):
            sums = group.setdefault(key, [0] * 6)
            for at, number in enumerate([*tokens, written - long, long, 1]):
                sums[at] += number
    return groups


def flat(tally: dict[str, Any]) -> list[int]:
    return [*tally["tokens"].values(), tally["messages"]]


def test_the_same_seed_gives_the_same_bytes_and_another_seed_gives_others(tmp_path: Path) -> None:
    digests: list[str] = []
    for name, seed in (("a", 5), ("b", 5), ("c", 6)):
        generate(tmp_path / name, Recipe(SMALL, seed))
        digest = sha256()
        for file in sorted((tmp_path / name).rglob("*.json*")):
            digest.update(file.relative_to(tmp_path / name).as_posix().encode() + file.read_bytes())
        digests.append(digest.hexdigest())
    assert digests[0] == digests[1] != digests[2]


def test_the_truth_equals_a_plain_count_of_the_files(corpus: Path) -> None:
    truth, counted = truth_of(corpus), naive_count(lines_of(corpus))
    assert flat(truth["total"]) == counted["total"][""]
    for group in ("by_model", "by_day", "by_project"):
        assert {key: flat(tally) for key, tally in truth[group].items()} == counted[group]


def test_counting_every_line_or_every_file_for_itself_would_be_wrong(corpus: Path) -> None:
    """The corpus is no test of a counter unless the easy ways to count give other sums."""
    files, total = lines_of(corpus), truth_of(corpus)["total"]
    usages = [
        line["message"]["usage"]["output_tokens"]
        for lines in files.values()
        for line in lines
        if line["type"] == "assistant"
    ]
    per_file = sum(naive_count({name: lines})["total"].get("", [0, 0])[1] for name, lines in files.items())
    assert sum(usages) > total["tokens"]["output"]
    assert per_file > total["tokens"]["output"]
    assert total["tokens"]["cache_write_1h"] > 0


@pytest.mark.parametrize("options", [{"shuffled_keys": True}, {"spaced": True}, {"request_ids": False}])
def test_a_variant_is_spelled_differently_and_has_the_same_truth(
    tmp_path: Path, options: dict[str, bool]
) -> None:
    generate(tmp_path / "plain", Recipe(SMALL))
    generate(tmp_path / "variant", Recipe(SMALL, **options))
    plain, variant = truth_of(tmp_path / "plain"), truth_of(tmp_path / "variant")
    assert plain["bytes"] != variant["bytes"] or "shuffled_keys" in options
    for group in ("total", "by_model", "by_day", "by_project", "needles"):
        assert plain[group] == variant[group]
    entries, respelled = lines_of(tmp_path / "plain"), lines_of(tmp_path / "variant")
    if options.get("request_ids", True):
        assert respelled == entries
    else:
        assert not any("requestId" in line for lines in respelled.values() for line in lines)
    assert flat(variant["total"]) == naive_count(respelled)["total"][""]


def texts(line: dict[str, Any], field: str) -> str:
    """All text of one field of a line, as plain text."""
    content: Any = line.get("message", {}).get("content", [])
    blocks: list[dict[str, Any]] = (
        [{"type": "text", "text": content}] if isinstance(content, str) else content
    )
    match field:
        case "title":
            return line.get("aiTitle", "")
        case "summary":
            return line.get("summary", "")
        case "prompt" | "text":
            role = "user" if field == "prompt" else "assistant"
            return "".join(block.get("text", "") for block in blocks) if line["type"] == role else ""
        case "thinking":
            return "".join(block.get("thinking", "") for block in blocks)
        case _:
            key = "input" if field == "tool_input" else "content"
            return "".join(json.dumps(block.get(key, ""), ensure_ascii=False) for block in blocks)


def test_every_needle_is_where_the_truth_says_and_nowhere_else(corpus: Path) -> None:
    needles: list[dict[str, Any]] = truth_of(corpus)["needles"]
    files = lines_of(corpus)
    raw = {name: (corpus / name).read_text(encoding="utf-8").split("\n") for name in files}
    assert {needle["field"] for needle in needles} >= {
        "prompt",
        "text",
        "thinking",
        "tool_input",
        "tool_result",
    }
    assert any(not needle["word"].isascii() for needle in needles)
    for needle in needles:
        places: set[tuple[str, int]] = {(place["file"], place["line"]) for place in needle["places"]}
        found = {
            (name, n)
            for name, lines in raw.items()
            for n, line in enumerate(lines, 1)
            if needle["word"] in line
        }
        assert found == places
        assert places
        for name, n in places:
            assert needle["word"] in texts(files[name][n - 1], needle["field"])


def test_the_inventory_of_each_file_equals_a_plain_count(corpus: Path) -> None:
    def kind(line: dict[str, Any]) -> str:
        inner = {"system": line.get("subtype"), "progress": line.get("data", {}).get("type")}
        inner["attachment"] = line.get("attachment", {}).get("type")
        name: str = line["type"]
        return f"{name}/{inner[name]}" if name in inner else name

    inventories = truth_of(corpus)["files"]
    files = lines_of(corpus)
    assert set(inventories) == set(files)
    for name, lines in files.items():
        assert inventories[name]["lines"] == len(lines)
        assert inventories[name]["types"] == Counter(map(kind, lines))
        assert inventories[name]["bytes"] == (corpus / name).stat().st_size


def test_the_corpus_has_forks_resumed_copies_and_every_layout_of_sub_agents(corpus: Path) -> None:
    holders: dict[str, set[str]] = {}
    files = lines_of(corpus)
    for name, lines in files.items():
        for line in lines:
            if line["type"] == "assistant":
                holders.setdefault(line["message"]["id"], set()).add(name)
    assert any(len(names) > 1 for names in holders.values())
    assert any(len({line.get("sessionId") for line in lines} - {None}) > 1 for lines in files.values())
    assert any("/subagents/agent-" in name for name in files)
    assert any("/agent-" in name and "/subagents/" not in name for name in files)
    assert any(
        line.get("isSidechain") for name, lines in files.items() if "/agent-" not in name for line in lines
    )


@pytest.mark.parametrize(("kind", "low", "high"), [("mixed", 3_000, 9_000), ("progress", 500, 900)])
def test_one_large_session_has_the_size_and_the_lines_asked_for(
    tmp_path: Path, kind: Any, low: int, high: int
) -> None:
    path = tmp_path / "0a374dc5-cc6f-4f6d-8389-4c79a7864509.jsonl"
    truth = one_session(path, 5_000_000, kind)
    lines = path.read_bytes().splitlines()
    assert 5_000_000 <= path.stat().st_size < 7_000_000
    assert low < path.stat().st_size / len(lines) < high
    assert truth.files[path.name].lines == len(lines)
    assert {json.loads(line)["sessionId"] for line in lines if b'"parentUuid"' in line} == {path.stem}


def test_a_giant_line_stands_between_ordinary_ones(tmp_path: Path) -> None:
    path = tmp_path / "0a374dc5-cc6f-4f6d-8389-4c79a7864509.jsonl"
    one_session(path, 3_000_000, "giant-line")
    sizes = [len(line) for line in path.read_bytes().split(b"\n")[:-1]]
    giant = sizes.index(max(sizes))
    assert 0 < giant < len(sizes) - 1
    assert 2_000_000 < sizes[giant] < 3_100_000
    assert json.loads(path.read_bytes().split(b"\n")[giant])["type"] == "user"


def test_sizes_and_slugs_are_read_as_people_write_them() -> None:
    assert [parse_size(text) for text in ("20MB", "2GB", "1.5 gb", "77")] == [
        20_000_000,
        2 * 10**9,
        15 * 10**8,
        77,
    ]
    with pytest.raises(ValueError, match="2GB"):
        parse_size("big")
    assert slug("E:\\workspaces\\project") == "E--workspaces-project"
    assert slug("/a/🧶") == "-a---"
