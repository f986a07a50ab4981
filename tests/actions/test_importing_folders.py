"""A session that goes to another folder: only the folders in its lines change."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, cast

import pytest

from clew.actions.importing import Landing
from tests.actions.bundling_lab import lines_in, packed, scenarios, taken, told
from tests.store.archives import session as whole_session
from tests.store.lines import ONE, put


def unmapped(data: bytes, old: str, new: str) -> bytes:
    """Put the old folder back where a line tells of its own: by text alone, without a word of clew's."""
    lines: list[bytes] = []
    for line in data.split(b"\n"):
        try:
            told: Any = json.loads(line)
        except ValueError:
            told = None
        place = cast("dict[str, object]", told).get("cwd") if isinstance(told, dict) else None
        if isinstance(place, str) and (place + "/").startswith(new + "/"):
            then = json.dumps(old + place[len(new) :], ensure_ascii=False).encode()
            line, many = re.subn(
                rb'("cwd":\s*)' + re.escape(json.dumps(place).encode()), rb"\g<1>" + then, line
            )
            assert many >= 1
        lines.append(line)
    return b"\n".join(lines)


def test_only_the_folder_of_a_line_changes_when_a_session_goes_to_another_project(tmp_path: Path) -> None:
    checked = changed = 0
    for number, scenario in enumerate(scenarios()[3::20]):
        place, work = tmp_path / str(number), (tmp_path / "my_work").resolve()
        work.mkdir(exist_ok=True)
        for path in sorted(scenario.glob("projects/*/*.jsonl")):
            if path.name.startswith("agent-"):
                continue
            found = re.search(rb'"cwd":"([^"]+)"', path.read_bytes())
            done = taken(
                packed(scenario, str(path), tmp_path / "s"), place, tmp_path / "s", Landing(to=str(work))
            )
            if found is None:
                assert done.counts.patched == 0
                continue
            assert Path(done.path).parent.name == re.sub("[^A-Za-z0-9]", "-", str(work))
            old = found[1].decode()
            for new in map(Path, done.new):
                name = str(new.relative_to(place)).replace(Path(done.path).parent.name, path.parent.name)
                before, after = (scenario / name).read_bytes(), new.read_bytes()
                is_same = before == after
                assert is_same or new.suffix == ".jsonl"
                assert unmapped(after, old, str(work)) == before
                checked, changed = checked + 1, changed + (not is_same)
            assert done.cwd == str(work)
    assert checked > 20
    assert changed > 10


@pytest.mark.parametrize(
    ("pairs", "expected"),
    [
        ([("/home/ada", "/srv/x")], ["/srv/x/lamp", "/srv/x/lamp/sub", "/else", None, "/home/adam/lamp"]),
        (
            [("/home/ada", "/srv/x"), ("/home/ada/lamp", "/y")],
            ["/y", "/y/sub", "/else", None, "/home/adam/lamp"],
        ),
        ([("/else", "/srv/x")], ["/home/ada/lamp", "/home/ada/lamp/sub", "/srv/x", None, "/home/adam/lamp"]),
    ],
)
def test_folders_are_mapped_by_the_longest_that_fits(
    tmp_path: Path, pairs: list[tuple[str, str]], expected: list[str | None]
) -> None:
    folders = ["/home/ada/lamp", "/home/ada/lamp/sub", "/else", None, "/home/adam/lamp"]
    put(tmp_path / "a" / "projects" / "-home-ada-lamp" / f"{ONE}.jsonl", lines_in(*folders))
    done = taken(
        packed(tmp_path / "a", ONE, tmp_path / "s"),
        tmp_path / "b",
        tmp_path / "s",
        Landing(folders=tuple(pairs)),
    )
    assert told(Path(done.path).read_bytes()) == expected
    assert Path(done.path).parent.name == re.sub("[^A-Za-z0-9]", "-", str(expected[0]))


def test_a_windows_session_comes_to_a_folder_of_this_system(tmp_path: Path) -> None:
    put(tmp_path / "a" / "projects" / "C--lamp" / f"{ONE}.jsonl", lines_in("C:\\lamp", "C:\\lamp\\a\\b"))
    done = taken(
        packed(tmp_path / "a", ONE, tmp_path / "s"), tmp_path / "b", tmp_path / "s", Landing(to="/srv/l")
    )
    assert told(Path(done.path).read_bytes()) == ["/srv/l", "/srv/l/a/b"]


def test_maps_that_fit_nothing_are_told(tmp_path: Path) -> None:
    whole_session(tmp_path / "a")
    data = packed(tmp_path / "a", ONE, tmp_path / "s")
    done = taken(data, tmp_path / "b", tmp_path / "s", Landing(folders=(("/nowhere", "/x"),)))
    assert any("No line tells" in note for note in done.notes)
    assert done.counts.patched == 0
