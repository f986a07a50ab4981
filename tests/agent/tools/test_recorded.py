"""The calls that were recorded give the results that were recorded: same words, same fields, same order."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from clew.agent.tools.edit import Edit
from clew.agent.tools.glob import Glob
from clew.agent.tools.grep import Grep
from clew.agent.tools.read import Read
from clew.agent.tools.todo_write import TodoWrite
from clew.agent.tools.write import Write
from tests.agent.tools.desk import Desk, desk, structured

if TYPE_CHECKING:
    from collections.abc import Iterator

_CORPUS = Path(__file__).resolve().parents[2] / "data/corpus"


@dataclass(frozen=True)
class _Recorded:
    name: str
    given: dict[str, Any]
    content: Any
    result: Any
    cwd: str


def _recorded(version: str) -> Iterator[_Recorded]:
    """Give each sort of call that a version recorded once."""
    told: set[str] = set()
    for file in sorted((_CORPUS / version).rglob("projects/**/*.jsonl")):
        calls: dict[str, tuple[str, dict[str, Any]]] = {}
        for line in file.read_bytes().splitlines():
            try:
                entry: dict[str, Any] = json.loads(line)
                blocks: list[dict[str, Any]] = [b for b in entry["message"]["content"] if isinstance(b, dict)]
            except (ValueError, KeyError, TypeError):
                continue
            calls.update({b["id"]: (b["name"], b["input"]) for b in blocks if b.get("type") == "tool_use"})
            for block in blocks:
                if block.get("tool_use_id") in calls and entry.get("toolUseResult") is not None:
                    name, given = calls[block["tool_use_id"]]
                    one = _Recorded(name, given, block["content"], entry["toolUseResult"], entry["cwd"])
                    key = json.dumps([name, given, one.content]).replace(one.cwd, "")
                    if key not in told and "No such tool" not in key:
                        told.add(key)
                        yield one


_NEWEST = list(_recorded("2.1.325"))
_LISTS = [one for one in _recorded("2.1.45") if one.name == "TodoWrite"]
_SEARCHES = [one for one in _recorded("2.1.150") if one.name in ("Grep", "Glob")]


def _as_here(value: Any, recorded: _Recorded, folder: Path) -> Any:
    return json.loads(json.dumps(value).replace(recorded.cwd, str(folder)))


def _of(name: str) -> list[_Recorded]:
    found = [one for one in _NEWEST if one.name == name and "cfg/plans" not in json.dumps(one.given)]
    assert found, f"nothing recorded of {name}"
    return found


def _prepare(at: Desk, recorded: _Recorded) -> None:
    """Let the files be as they were before the call."""
    path = Path(str(_as_here(recorded.given["file_path"], recorded, at.folder)))
    match recorded.result:
        case {"type": "text", "file": {"content": str(content)}}:
            path.write_text(content)
        case {"type": "image", "file": {"base64": str(data)}}:
            path.write_bytes(base64.b64decode(data))
        case {"originalFile": str(content)}:
            path.write_text(content)
            at.run(Read(), file_path=str(path))
        case str(words) if "not found in file" in words:
            path.write_text("ALPHA\n")
            at.run(Read(), file_path=str(path))
        case _:
            pass


@pytest.mark.parametrize("name", ["Read", "Write", "Edit"])
def test_files_are_read_and_changed_as_recorded(tmp_path: Path, name: str) -> None:
    tool = {"Read": Read, "Write": Write, "Edit": Edit}[name]()
    for number, recorded in enumerate(_of(name)):
        folder = tmp_path.resolve() / str(number)
        folder.mkdir()
        at = desk(folder)
        _prepare(at, recorded)
        outcome = at.run(tool, **_as_here(recorded.given, recorded, folder))
        assert outcome.content == _as_here(recorded.content, recorded, folder)
        assert outcome.structured == _as_here(recorded.result, recorded, folder)


def test_lists_of_things_to_do_are_kept_as_recorded(tmp_path: Path) -> None:
    assert _LISTS
    for recorded in _LISTS:
        tool = TodoWrite(recorded.result["oldTodos"])
        outcome = desk(tmp_path).run(tool, **recorded.given)
        assert (outcome.content, outcome.structured) == (recorded.content, recorded.result)


def test_searches_find_as_recorded(tmp_path: Path) -> None:
    """Fields the newer client adds are left aside."""
    assert len(_SEARCHES) >= 3
    at = desk(tmp_path)
    at.write("b.txt", "line b1\nline b2\n")
    at.write("big.txt", "".join(f"row {n:06d} {'y' * 40}\n" for n in range(1500)))
    at.write("new.txt", "line one\nline two\nline three\n")
    at.write("a.txt", "ALPHA\nbeta\ngamma\n")
    for recorded in _SEARCHES:
        tool = Grep(find=lambda _: None) if recorded.name == "Grep" else Glob()
        outcome = at.run(tool, **_as_here(recorded.given, recorded, at.folder))
        assert outcome.content == _as_here(recorded.content, recorded, at.folder)
        kept = structured(outcome)
        same = {key: kept[key] for key in recorded.result if key != "durationMs"}
        assert same == {key: recorded.result[key] for key in same}
        assert set(kept) - set(recorded.result) <= {
            "totalMatches",
            "countIsComplete",
            "totalFiles",
            "totalLines",
        }
