"""What the client's clean-up takes next, as measured with 2.1.325."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from clew.store.cleanup import Period, doomed, doomed_sides, period
from clew.store.files import Store
from tests.store.lines import ONE, TWO, line, put

NOW = 1_790_000_000.0
DAY = 86_400.0


def aged(path: Path, days: float) -> Path:
    time = NOW - days * DAY
    os.utime(path, (time, time))
    return path


def at(root: Path) -> Store:
    return Store.at([str(root)])


def test_sessions_go_thirty_days_after_they_were_last_changed_the_oldest_first(tmp_path: Path) -> None:
    aged(put(tmp_path / "projects" / "-p" / f"{ONE}.jsonl", line()), 29.5)
    aged(put(tmp_path / "projects" / "-p" / f"{TWO}.jsonl", line()), 40)
    found = doomed(at(tmp_path), now=NOW)
    assert [one.file.id for one in found] == [TWO, ONE]
    assert [round(one.days_left, 3) for one in found] == [-10, 0.5]
    assert found[1].deleted_after == pytest.approx(NOW + DAY / 2)
    assert [one.file.id for one in doomed(at(tmp_path), now=NOW, within_days=0)] == [TWO]


def test_the_period_of_the_settings_counts(tmp_path: Path) -> None:
    aged(put(tmp_path / "projects" / "-p" / f"{ONE}.jsonl", line()), 2)
    put(tmp_path / "settings.json", b'{"env":{"A":"b"},"cleanupPeriodDays":5}')
    assert [round(one.days_left, 3) for one in doomed(at(tmp_path), now=NOW)] == [3]


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        (b"{}", Period(30, "default")),
        (b'{"cleanupPeriodDays":1}', Period(1, "settings")),
        (b'{"cleanupPeriodDays":5.0}', Period(5, "settings")),
        (b'{"cleanupPeriodDays":99999}', Period(99_999, "settings")),
        (b'{"cleanupPeriodDays":1e300}', Period(10_000_000, "settings")),
        (b'{"cleanupPeriodDays":0}', Period(None, "unusable")),
        (b'{"cleanupPeriodDays":0.5}', Period(None, "unusable")),
        (b'{"cleanupPeriodDays":-1}', Period(None, "unusable")),
        (b'{"cleanupPeriodDays":"5"}', Period(None, "unusable")),
        (b'{"cleanupPeriodDays":true}', Period(None, "unusable")),
        (b'{"cleanupPeriodDays":null}', Period(None, "unusable")),
        (b'{"cleanupPeriodDays":1e400}', Period(None, "unusable")),
        (b'{"cleanupPeriodDays":5, oops', Period(None, "unusable")),
        (b"[]", Period(None, "unusable")),
        (b"\xff\x00", Period(None, "unusable")),
        (b"", Period(None, "unusable")),
    ],
)
def test_only_a_whole_number_from_one_on_is_a_period(
    tmp_path: Path, settings: bytes, expected: Period
) -> None:
    put(tmp_path / "settings.json", settings)
    assert period(str(tmp_path)) == expected


def test_without_settings_it_is_the_default_and_a_folder_in_their_place_stops_it(tmp_path: Path) -> None:
    assert period(str(tmp_path)) == Period(30, "default")
    (tmp_path / "settings.json").mkdir()
    assert period(str(tmp_path)) == Period(None, "unusable")


def test_where_the_client_deletes_nothing_nothing_is_doomed(tmp_path: Path) -> None:
    path = aged(put(tmp_path / "projects" / "-p" / f"{ONE}.jsonl", line()), 400)
    aged(put(path.parent / ONE / "tool-results" / "t.txt", b"x"), 500)
    put(tmp_path / "settings.json", b'{"cleanupPeriodDays":0}')
    assert not doomed(at(tmp_path), now=NOW)
    assert not doomed_sides(at(tmp_path), now=NOW)


def test_a_sub_agent_goes_with_its_session_and_one_without_by_its_own_time(tmp_path: Path) -> None:
    project = tmp_path / "projects" / "-p"
    aged(put(project / f"{ONE}.jsonl", line()), 40)
    aged(put(project / ONE / "subagents" / "agent-new.jsonl", line()), 1)
    aged(put(project / TWO / "subagents" / "agent-alone.jsonl", line()), 2)
    aged(put(project / "agent-loose.jsonl", line()), 3)
    left = {one.file.id: round(one.days_left) for one in doomed(at(tmp_path), now=NOW)}
    assert left == {ONE: -10, "agent-new": -10, "agent-alone": 28, "agent-loose": 27}


def test_a_session_that_stays_loses_old_tool_results_todos_history_and_tasks(tmp_path: Path) -> None:
    project = tmp_path / "projects" / "-p"
    aged(put(project / f"{ONE}.jsonl", line()), 1)
    aged(put(project / ONE / "tool-results" / "old.txt", b"x"), 31)
    aged(put(project / ONE / "tool-results" / "new.txt", b"x"), 0.5)
    aged(put(project / ONE / "custom-title.json", b"{}"), 100)
    aged(put(tmp_path / "todos" / f"{ONE}-agent-{ONE}.json", b"[]"), 29)
    history = put(tmp_path / "file-history" / ONE / "abc@v1", b"x")
    task = put(tmp_path / "tasks" / ONE / "1.json", b"x")
    aged(history, 100)
    aged(history.parent, 1.5)  # the time of the folder counts
    aged(task.parent, 28)
    sides = doomed_sides(at(tmp_path), now=NOW)
    found = [(Path(one.path).name, round(one.days_left, 1)) for one in sides]
    assert found == [("old.txt", -1.0), (f"{ONE}-agent-{ONE}.json", 1.0), ("1.json", 2.0), ("abc@v1", 28.5)]
    within = doomed_sides(at(tmp_path), now=NOW, within_days=0)
    assert [one.session.id for one in within] == [ONE]


def test_nothing_of_a_session_is_named_twice_when_it_goes_itself(tmp_path: Path) -> None:
    project = tmp_path / "projects" / "-p"
    aged(put(project / f"{ONE}.jsonl", line()), 40)
    aged(put(project / ONE / "tool-results" / "t.txt", b"x"), 35)
    assert not doomed_sides(at(tmp_path), now=NOW)
