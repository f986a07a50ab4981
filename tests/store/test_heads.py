"""What the first and last lines of a file tell."""

from __future__ import annotations

import json
import os
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.store import heads
from clew.store.files import SessionFile, Skipped, at_path
from clew.store.heads import LINES, Head, continuations, head, project
from clew.store.source import FileSource
from tests.store.lines import CORPUS, MADE, ONE, TWO, line, lines, put

BITS = [
    b"\n",
    b"{}\n",
    line(1),
    line(2, isSidechain=True),
    line(3, message=[]),
    line(4, sessionId={}),
    b"\x00",
]
FILES = sorted(CORPUS.glob("*/*/projects/**/*.jsonl"))


def _file(path: Path) -> SessionFile:
    file = at_path(path)
    assert isinstance(file, SessionFile)
    return file


def _head(path: Path, *, tail: bool = True) -> Head:
    found = head(_file(path), tail=tail)
    assert isinstance(found, Head)
    return found


def _summary(number: int) -> bytes:
    return line(type="summary", summary=f"s{number}", leafUuid="x", sessionId=None, cwd=None, message=None)


def _entries(path: Path) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = []
    for raw in path.read_bytes().split(b"\n"):
        try:
            value = json.loads(raw)
        except ValueError:
            continue
        if isinstance(value, dict):
            entries.append(value)  # pyright: ignore[reportUnknownArgumentType] # plain JSON, for an independent count
    return entries


@pytest.mark.parametrize("version", sorted({path.relative_to(CORPUS).parts[0] for path in FILES}))
def test_heads_of_the_corpus_agree_with_a_full_read(version: str) -> None:
    for path in FILES:
        if path.relative_to(CORPUS).parts[0] != version:
            continue
        found = _head(path)
        entries = _entries(path)
        messages = [entry for entry in entries if entry.get("type") in {"user", "assistant"}]
        if not messages:
            assert found.kind == "empty"
        elif path.name.startswith("agent-"):
            assert found.kind == "agent"
            assert f"agent-{found.agent_id}" == path.stem
        else:
            summaries = any(entry.get("type") == "summary" for entry in entries)
            assert found.kind == ("mixed" if summaries else "conversation")
        times = [entry["timestamp"] for entry in entries if isinstance(entry.get("timestamp"), str)]
        assert found.cwd == next((entry["cwd"] for entry in entries if "cwd" in entry), None)
        assert found.version == next((entry["version"] for entry in entries if "version" in entry), None)
        assert found.started == (times[0] if times else None)
        if found.is_whole:
            assert found.ended == (times[-1] if times else None)
            ids = Counter(entry["sessionId"] for entry in entries if "sessionId" in entry)
            assert list(found.session_ids) == [session for session, _ in ids.most_common()]
        assert found.previous is None or path.name.startswith("agent-")


def test_summary_files_mixed_files_and_conversations_are_told_apart() -> None:
    folder = MADE / "made-summaries"
    kinds = {path.stem[:8]: _head(path).kind for path in folder.iterdir()}
    assert kinds == {"00000008": "conversation", "00000009": "summary", "0000000a": "mixed"}


def test_a_continuation_names_the_session_before_it() -> None:
    folder = MADE / "made-continuation"
    first, second = sorted(folder.iterdir())
    assert _head(second).previous == first.stem
    assert _head(first).previous is None
    heads_of = [(_file(path), _head(path)) for path in (first, second)]
    assert continuations(heads_of) == {first.stem: (second.stem,)}


@settings(max_examples=80)
@given(st.lists(st.one_of(st.binary(max_size=60), st.sampled_from(BITS)), max_size=30))
def test_any_bytes_have_a_head(parts: list[bytes]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = put(Path(folder) / "x.jsonl", parts)
        assert _head(path).is_whole or len(parts) > LINES
        assert _head(path).kind in {"conversation", "mixed", "summary", "agent", "empty"}


def test_a_renamed_file_is_no_continuation(tmp_path: Path) -> None:
    assert _head(put(tmp_path / "renamed.jsonl", lines(5))).previous is None


def test_an_id_that_appears_later_is_no_continuation(tmp_path: Path) -> None:
    data = line(type="queue-operation", message=None) + lines(2, start=2, session=TWO)
    assert _head(put(tmp_path / f"{ONE}.jsonl", data)).previous is None


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\n\n\r\n",
        b"\xef\xbb\xbf",
        b"\x00" * 100,
        b'{"torn": ',
        b"[1]\nnull\n",
        line(type="file-history-snapshot", message=None),
        line(type="system", message=None),
    ],
)
def test_a_file_in_which_nothing_is_said_is_empty(tmp_path: Path, data: bytes) -> None:
    found = _head(put(tmp_path / "x.jsonl", data))
    assert found.kind == "empty"
    assert found.is_whole


@pytest.mark.parametrize("count", [19, 20, 21, 60, 499])
def test_a_long_list_of_summaries_hides_no_conversation(tmp_path: Path, count: int) -> None:
    data = b"".join(map(_summary, range(count)))
    assert _head(put(tmp_path / "x.jsonl", data)).kind == "summary"
    assert _head(put(tmp_path / "x.jsonl", data + lines(3))).kind == "mixed"
    assert _head(put(tmp_path / "x.jsonl", data + lines(3)), tail=False).kind == "mixed"


def test_a_conversation_behind_very_many_summaries_is_seen_at_the_end(tmp_path: Path) -> None:
    path = put(tmp_path / "x.jsonl", b"".join(map(_summary, range(2_000))) + lines(3))
    assert _head(path).kind == "mixed"
    assert _head(path, tail=False).kind == "summary"


def test_only_sidechain_lines_are_an_agent(tmp_path: Path) -> None:
    inside = line(1) + line(2, isSidechain=True) + line(3, isSidechain=True)
    assert _head(put(tmp_path / "agent-a1.jsonl", inside)).kind == "conversation"
    assert _head(put(tmp_path / f"{ONE}.jsonl", line(isSidechain=True, agentId="a1"))).kind == "agent"


def test_the_first_folder_counts_and_the_folder_name_is_the_fallback(tmp_path: Path) -> None:
    path = put(
        tmp_path / "-w---" / "x.jsonl", line(1, cwd=None) + line(2, cwd="/w/新聞") + line(3, cwd="/w/🚀")
    )
    assert project(_file(path), _head(path)) == "/w/新聞"
    empty = put(tmp_path / "-w---" / "y.jsonl", b"")
    assert project(_file(empty), _head(empty)) == "-w---"


def test_the_commonest_id_comes_first(tmp_path: Path) -> None:
    data = line(1, session=TWO) + lines(3, start=2)
    found = _head(put(tmp_path / f"{ONE}.jsonl", data))
    assert found.session_ids == (ONE, TWO)
    assert found.previous == TWO


def test_the_last_lines_tell_the_end(tmp_path: Path) -> None:
    late = line(999, session=TWO, timestamp="2026-12-31T00:00:00.000Z", gitBranch="late", slug="late-name")
    path = put(tmp_path / "x.jsonl", lines(800) + late)
    found = _head(path)
    assert not found.is_whole
    assert (found.ended, found.git_branch, found.slug) == ("2026-12-31T00:00:00.000Z", "late", "late-name")
    assert set(found.session_ids) == {ONE, TWO}
    assert _head(path, tail=False).ended == "2026-03-04T09:00:20.000Z"


def test_a_line_is_looked_at_once_where_first_and_last_lines_meet(tmp_path: Path) -> None:
    data = lines(20) + line(21, session=TWO) + line(22, session="3")
    found = _head(put(tmp_path / "x.jsonl", data))
    assert found.session_ids == (ONE, TWO, "3")
    assert found.ended == "2026-03-04T09:00:22.000Z"


def test_odd_lines_are_read_the_slow_way(tmp_path: Path) -> None:
    data = b"".join(
        [
            b"\xef\xbb\xbf" + line(1, gitBranch=7),
            b"\x00\x00" + line(2, version=["odd"], agentId="a1"),
            line(3).rstrip() + line(4, session=TWO),
            b'{"cut": "off' + line(5),
            line(6, message="words"),
            line(
                7,
                type=None,
                timestamp=None,
                message={"role": "assistant", "timestamp": "2026-05-05T00:00:00Z"},
            ),
            line(8, timestamp=1),
        ]
    )
    found = _head(put(tmp_path / "x.jsonl", data))
    assert found.kind == "conversation"
    assert found.session_ids == (ONE, TWO)
    assert found.agent_id == "a1"
    assert found.started == "2026-03-04T09:00:01.000Z"
    assert found.ended == "2026-05-05T00:00:00Z"


def test_a_gigantic_first_line_is_read_past(tmp_path: Path) -> None:
    huge = line(1, message={"role": "user", "content": "x" * (9 << 20)})
    found = _head(put(tmp_path / "x.jsonl", huge + lines(2, start=2)))
    assert found.kind == "conversation"
    assert found.started == "2026-03-04T09:00:01.000Z"
    assert found.ended == "2026-03-04T09:00:03.000Z"
    garbage = put(tmp_path / "y.jsonl", b"\x00" * (5 << 20))
    assert _head(garbage).kind == "empty"


def test_a_file_that_cannot_be_read_is_a_value_not_an_error(tmp_path: Path) -> None:
    path = put(tmp_path / "x.jsonl", lines(1))
    file = _file(path)
    path.unlink()
    assert head(file) == Skipped(str(path), f"{path} cannot be read: no such file or directory")
    os.mkfifo(path)
    assert head(file) == Skipped(str(path), f"{path} is a pipe, not a session file")


def test_a_file_cut_meanwhile_tells_what_was_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = put(tmp_path / "x.jsonl", lines(800))
    real = FileSource.read

    def cutting(source: FileSource, offset: int, length: int) -> bytes:
        os.truncate(path, 5_000)
        return real(source, offset, length)

    monkeypatch.setattr(heads.FileSource, "read", cutting)
    found = _head(path)
    assert found.kind == "conversation"
    assert found.ended == "2026-03-04T09:00:20.000Z"
