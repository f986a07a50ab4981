"""The demo's sessions are what a client would have written, except where they are damaged on purpose."""

from __future__ import annotations

import base64
import json
import os
import stat
import zlib
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, cast

import pytest

from clew.actions.demo import HOME, MARKER, NotADemoError, is_demo, stories, write_demo
from clew.store.slugs import folder_name

if TYPE_CHECKING:
    from pathlib import Path

    from clew.actions.demo_story import Told

NOW = datetime(2026, 2, 3, 12, 0, 0, 123_000, tzinfo=UTC)
DAMAGED = "a damaged file"


@pytest.fixture(scope="module")
def told() -> tuple[Told, ...]:
    return stories(now=NOW)


def parse(data: bytes) -> list[dict[str, Any]]:
    """Every line as JSON; the demo's sound files end each line and hold nothing else."""
    assert not data or data.endswith(b"\n")
    return [json.loads(line) for line in data.split(b"\n")[:-1]]


def sound(told: tuple[Told, ...]) -> list[tuple[str, list[dict[str, Any]]]]:
    return [
        (file.path, parse(file.data))
        for story in told
        if not story.shows.startswith(DAMAGED)
        for file in story.files
        if file.path.endswith(".jsonl")
    ]


def blocks_of(line: dict[str, Any]) -> list[dict[str, Any]]:
    content = line.get("message", {}).get("content")
    return cast("list[dict[str, Any]]", content) if isinstance(content, list) else []


def kept_of(line: dict[str, Any]) -> dict[str, Any]:
    kept = line.get("toolUseResult")
    return cast("dict[str, Any]", kept) if isinstance(kept, dict) else {}


def test_every_line_of_a_sound_file_parses(told: tuple[Told, ...]) -> None:
    files = sound(told)
    assert len(files) == 11
    assert sum(len(lines) for _, lines in files) > 130


def test_the_same_moment_gives_the_same_bytes(told: tuple[Told, ...]) -> None:
    assert stories(now=NOW) == told


def test_another_moment_changes_times_and_nothing_else(told: tuple[Told, ...]) -> None:
    later = stories(now=NOW + timedelta(days=400))
    for old, new in zip(told, later, strict=True):
        assert [file.path for file in old.files] == [file.path for file in new.files]
        assert [len(file.data) for file in old.files] == [len(file.data) for file in new.files]
        assert all(
            b.changed - a.changed == timedelta(days=400) for a, b in zip(old.files, new.files, strict=True)
        )


def test_a_chain_hangs_together_and_time_runs_forward(told: tuple[Told, ...]) -> None:
    for path, lines in sound(told):
        seen: dict[str, str] = {}
        for line in lines:
            if "uuid" not in line:
                continue
            parent = line["parentUuid"]
            assert line["uuid"] not in seen
            assert parent is None or parent in seen, path
            if parent is None:
                is_first = not seen
                assert is_first or line.get("subtype") == "compact_boundary" or line["isSidechain"]
            else:
                assert seen[parent] < line["timestamp"]
            assert not seen or line["timestamp"] > max(seen.values()), path
            assert line["timestamp"] < NOW.isoformat()
            seen[line["uuid"]] = line["timestamp"]


def test_calls_and_results_are_one_to_one_and_near_each_other(told: tuple[Told, ...]) -> None:
    calls = 0
    for _, lines in sound(told):
        open_calls: list[str] = []
        for line in lines:
            kinds = [block["type"] for block in blocks_of(line)]
            if line["type"] == "user" and "tool_result" not in kinds and not line["isSidechain"]:
                assert not open_calls  # nobody speaks before every call has its result
            for block in blocks_of(line):
                if block["type"] == "tool_use":
                    open_calls.append(block["id"])
                    calls += 1
                elif block["type"] == "tool_result":
                    open_calls.remove(block["tool_use_id"])
        assert open_calls == []
    assert calls > 35


def test_the_lines_of_a_message_share_its_id_and_the_api_would_take_them(told: tuple[Told, ...]) -> None:
    for _, lines in sound(told):
        for line in lines:
            if line["type"] == "assistant":
                (block,) = line["message"]["content"]
                assert block["type"] in ("text", "thinking", "tool_use")
                assert block.get("text", "x").strip()
                assert line["message"]["usage"]["output_tokens"] > 0


def test_the_client_versions_are_told_apart(told: tuple[Told, ...]) -> None:
    by_version: dict[str, list[dict[str, Any]]] = {}
    for _, lines in sound(told):
        for line in lines:
            if "version" in line:
                by_version.setdefault(line["version"], []).append(line)
    assert sorted(by_version) == ["1.0.35", "2.0.42", "2.0.76", "2.1.150", "2.1.325", "2.1.45"]
    assert all("gitBranch" not in line for line in by_version["1.0.35"])
    assert {
        line["message"]["stop_reason"] for line in by_version["2.1.45"] if line["type"] == "assistant"
    } == {None}
    assert any("madeBy" in line for line in by_version["2.1.325"])
    assert any("todos" in str(line.get("toolUseResult", "")).lower() for line in by_version["2.0.76"])


def test_everything_a_reader_should_meet_is_there(told: tuple[Told, ...]) -> None:
    lines = [line for _, file in sound(told) for line in file]
    text = json.dumps(lines, ensure_ascii=False)
    kinds = {f"{line['type']}/{line['subtype']}" if "subtype" in line else line["type"] for line in lines}
    assert kinds >= {
        "user", "assistant", "summary", "progress", "attachment", "file-history-snapshot", "cost-state",
        "ai-title", "custom-title", "last-prompt", "tools-used", "mode", "system/compact_boundary",
        "system/turn_duration",
    }  # fmt: skip
    for needle in (
        '"thinking"',
        '"is_error": true',
        '"structuredPatch": [{',
        '"newTodos"',
        "<command-name>/compact",
        '"isCompactSummary": true',
        '"isMeta": true',
        "明日のパン",
        "👩\u200d🍳",
        "[Request interrupted by user",
    ):
        assert needle in text, needle


def test_a_compaction_and_a_rewind_are_shaped_as_the_client_shapes_them(told: tuple[Told, ...]) -> None:
    lines = [line for _, file in sound(told) for line in file]
    by_id = {line["uuid"]: line for line in lines if "uuid" in line}
    (boundary,) = [line for line in lines if line.get("subtype") == "compact_boundary"]
    assert boundary["parentUuid"] is None
    assert boundary["logicalParentUuid"] in by_id
    (summary,) = [line for line in lines if line.get("isCompactSummary")]
    assert summary["parentUuid"] == boundary["uuid"]
    prompts = [
        line for line in lines if line["type"] == "user" and isinstance(line["message"]["content"], str)
    ]
    parents = [line["parentUuid"] for line in prompts if line["parentUuid"]]
    children = {line["parentUuid"] for line in lines if line.get("type") == "user"}
    assert len(parents) == len(set(parents))
    fork = next(line for line in prompts if line["message"]["content"].startswith("No, wait"))
    siblings = [line for line in lines if line.get("parentUuid") == fork["parentUuid"] and line is not fork]
    assert siblings
    assert fork["parentUuid"] in children


def test_last_prompts_snapshots_and_summaries_point_at_lines_that_exist(told: tuple[Told, ...]) -> None:
    lines = [line for _, file in sound(told) for line in file]
    ids = {line["uuid"] for line in lines if "uuid" in line}
    pointers = [line["leafUuid"] for line in lines if "leafUuid" in line]
    pointers += [line["messageId"] for line in lines if line["type"] == "file-history-snapshot"]
    assert len(pointers) > 8
    assert set(pointers) <= ids


def test_sub_agents_lie_in_three_layouts_and_know_their_calls(told: tuple[Told, ...]) -> None:
    paths = {file.path: file for story in told for file in story.files}
    nested = [path for path in paths if "/subagents/" in path and path.endswith(".jsonl")]
    flat = [path for path in paths if "/agent-" in path and "/subagents/" not in path]
    inline = [
        path
        for path, lines in sound(told)
        if "agent-" not in path and any(line.get("isSidechain") for line in lines)
    ]
    assert (len(nested), len(flat), len(inline)) == (1, 1, 1)
    meta = json.loads(paths[nested[0].replace(".jsonl", ".meta.json")].data)
    main = nested[0].split("/subagents/")[0] + ".jsonl"
    assert meta["toolUseId"] in paths[main].data.decode()
    assert f'"agentId":"{nested[0].rsplit("agent-", 1)[1][:-6]}"' in paths[main].data.decode()


def test_an_agent_speaks_between_its_call_and_its_result(told: tuple[Told, ...]) -> None:
    files = dict(sound(told))
    for path, lines in files.items():
        if "agent-" not in path:
            continue
        agent_id = lines[0]["agentId"]
        main = files[
            f"{path.rsplit('/', 1)[0].split('/' + lines[0]['sessionId'])[0]}/{lines[0]['sessionId']}.jsonl"
        ]
        (result,) = [
            line for line in main if f'"agentId": "{agent_id}"' in json.dumps(line.get("toolUseResult"))
        ]
        call_id = result["message"]["content"][0]["tool_use_id"]
        (call,) = [
            line for line in main if line["type"] == "assistant" and call_id in json.dumps(line["message"])
        ]
        assert call["timestamp"] < lines[0]["timestamp"] <= lines[-1]["timestamp"] < result["timestamp"]


def test_every_edit_is_the_true_difference(told: tuple[Told, ...]) -> None:
    edits = 0
    for _, lines in sound(told):
        for line in lines:
            kept = kept_of(line)
            if not kept.get("structuredPatch") or "originalFile" not in kept:
                continue  # the oldest clients kept no original of a file written anew
            edits += 1
            after = kept.get("content") or kept["originalFile"].replace(kept["oldString"], kept["newString"])
            assert apply(kept["originalFile"], kept["structuredPatch"]) == after
    assert edits >= 10


def apply(before: str, hunks: list[dict[str, Any]]) -> str:
    lines = before.splitlines()
    for hunk in reversed(hunks):
        start = hunk["oldStart"] - 1
        old = [line[1:] for line in hunk["lines"] if line[0] in " -"]
        assert lines[start : start + hunk["oldLines"]] == old
        lines[start : start + hunk["oldLines"]] = [line[1:] for line in hunk["lines"] if line[0] in " +"]
    return "\n".join(lines) + "\n"


def test_the_picture_is_a_real_one(told: tuple[Told, ...]) -> None:
    (block,) = [
        block
        for _, lines in sound(told)
        for line in lines
        for block in blocks_of(line)
        if block["type"] == "image"
    ]
    data = base64.b64decode(str(block["source"]["data"]))
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = int.from_bytes(data[16:20], "big"), int.from_bytes(data[20:24], "big")
    at = data.index(b"IDAT")
    pixels = zlib.decompress(data[at + 4 : at + 4 + int.from_bytes(data[at - 4 : at], "big")])
    assert len(pixels) == height * (1 + 3 * width)


def test_the_clients_own_cost_is_the_sum_of_its_messages(told: tuple[Told, ...]) -> None:
    checked = 0
    for _, lines in sound(told):
        usages = {
            line["message"]["id"]: line["message"]["usage"] for line in lines if line["type"] == "assistant"
        }
        for line in lines:
            if line["type"] == "cost-state":
                (spent,) = line["modelUsage"].values()
                assert spent["outputTokens"] == sum(usage["output_tokens"] for usage in usages.values())
                assert spent["cacheReadInputTokens"] == sum(
                    u["cache_read_input_tokens"] for u in usages.values()
                )
                assert 0.05 < line["totalCostUSD"] < 1
                checked += 1
    assert checked == 2


def test_the_damaged_file_is_damaged_in_four_ways_and_otherwise_sound(told: tuple[Told, ...]) -> None:
    (story,) = [story for story in told if story.shows.startswith(DAMAGED)]
    data = story.files[0].data
    lines = data.split(b"\n")
    bad: list[bytes] = []
    for line in lines:
        try:
            json.loads(line)
        except ValueError:
            bad.append(line)
    glued, zeros, spliced, torn = bad
    assert glued.count(b'}{"parentUuid"') == 1
    assert set(zeros) == {0}
    assert not spliced.startswith(b"\0")
    assert spliced.count(b'{"parentUuid"') == 2
    assert b'}{"parentUuid"' not in spliced
    assert torn == lines[-1]
    assert not data.endswith(b"\n")
    assert len(lines) - len(bad) == 8


def test_the_empty_file_is_empty_and_the_summary_file_has_no_conversation(told: tuple[Told, ...]) -> None:
    data = {story.shows: story.files[0].data for story in told}
    assert data["an empty file, as some clients leave behind"] == b""
    (summary,) = parse(data["a file of summaries only, which names another session"])
    assert summary["type"] == "summary"


def test_ids_differ_in_their_first_four_letters(told: tuple[Told, ...]) -> None:
    assert len({story.session_id[:4] for story in told}) == len(told)


def test_no_placeholder_is_left(told: tuple[Told, ...]) -> None:
    for story in told:
        for file in story.files:
            for place in (b"$cwd", b"$session", b"$leaf", b"$uuid", b"$day"):
                assert place not in file.data


# --- writing --------------------------------------------------------------------------------------------


def test_the_folder_becomes_a_config_folder(tmp_path: Path) -> None:
    result = write_demo(tmp_path / "new" / "demo", now=NOW)
    assert is_demo(result.directory)
    assert result.projects == ("bakery", "greenhouse", "maze")
    assert (len(result.sessions), result.agents) == (10, 3)
    assert 100_000 < result.bytes < 300_000
    on_disk = [path for path in (result.directory / "projects").rglob("*") if path.is_file()]
    assert len(on_disk) == result.files
    assert {path.relative_to(result.directory / "projects").parts[0] for path in on_disk} == {
        folder_name(f"{HOME}/{project}") for project in result.projects
    }
    assert all(session.path.is_file() for session in result.sessions)


def test_sessions_come_newest_first_and_their_files_look_their_age(tmp_path: Path) -> None:
    result = write_demo(tmp_path, now=NOW)
    times = [session.path.stat().st_mtime for session in result.sessions]
    assert times == sorted(times, reverse=True)
    assert 15 * 60 < NOW.timestamp() - times[0] < 3600  # fresh, but nobody is writing to it


def test_what_is_written_is_for_its_owner_only(tmp_path: Path) -> None:
    result = write_demo(tmp_path / "demo", now=NOW)
    for path in [result.directory, *result.directory.rglob("*")]:
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0


def test_a_demo_is_told_anew_and_what_else_lies_there_stays(tmp_path: Path) -> None:
    first = write_demo(tmp_path, now=NOW)
    first.sessions[0].path.write_bytes(b"spoiled")
    (tmp_path / "mine.txt").write_text("kept")
    again = write_demo(tmp_path, now=NOW)
    assert again == first
    assert parse(again.sessions[0].path.read_bytes())
    assert (tmp_path / "mine.txt").read_text() == "kept"
    assert not list(tmp_path.rglob("*.new"))


def test_a_folder_with_anything_else_in_it_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "projects").mkdir()
    with pytest.raises(NotADemoError, match="is not empty") as refused:
        write_demo(tmp_path, now=NOW)
    assert refused.value.exit_code == 4
    assert refused.value.hint
    assert [path.name for path in tmp_path.iterdir()] == ["projects"]


@pytest.mark.parametrize("marker", [b"", b"[]", b"{}", b"3", b"\xff", b'"clew"'])
def test_a_marker_that_is_none_does_not_make_a_demo(tmp_path: Path, marker: bytes) -> None:
    (tmp_path / MARKER).write_bytes(marker)
    with pytest.raises(NotADemoError):
        write_demo(tmp_path, now=NOW)


def test_a_file_or_a_dead_link_in_the_place_of_the_folder_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    for name, why in (("file", "not a folder"), ("link", "leads nowhere")):
        with pytest.raises(NotADemoError, match=why):
            write_demo(tmp_path / name, now=NOW)
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.skipif(os.name != "posix", reason="needs a path in the way")
def test_what_cannot_be_written_is_said_with_its_path(tmp_path: Path) -> None:
    write_demo(tmp_path, now=NOW)
    session = next((tmp_path / "projects").rglob("*.jsonl"))
    session.unlink()
    session.mkdir()
    with pytest.raises(Exception, match=session.name) as failed:
        write_demo(tmp_path, now=NOW)
    assert type(failed.value).__name__ == "ClewError"
    assert not list(tmp_path.rglob("*.new"))


def test_the_sessions_can_live_in_another_home(tmp_path: Path) -> None:
    result = write_demo(tmp_path, now=NOW, home="/srv/people/ana")
    assert all("-srv-people-ana-" in session.path.parent.name for session in result.sessions)
    assert b'"cwd":"/srv/people/ana/greenhouse"' in result.sessions[0].path.read_bytes()
