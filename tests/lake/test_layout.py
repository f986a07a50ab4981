"""What a file is, its key tells."""

from __future__ import annotations

import pytest

from clew.lake.layout import Found, groups, people, placed, unplaced


@pytest.mark.parametrize(
    ("key", "told"),
    [
        ("projects/-a/1.jsonl", ("session", "", "-a", "1", "1")),
        ("projects/1.jsonl", ("session", "", "", "1", "1")),
        ("core/ada/projects/-a/1.jsonl", ("session", "core/ada", "-a", "1", "1")),
        ("core/ada/.claude/projects/-a/1.jsonl", ("session", "core/ada/.claude", "-a", "1", "1")),
        ("projects/ada/projects/-a/1.jsonl", ("session", "projects/ada", "-a", "1", "1")),
        ("projects/-a/agent-x.jsonl", ("agent", "", "-a", "agent-x", None)),
        ("projects/-a/subagents/x.jsonl", ("agent", "", "-a", "x", None)),
        ("projects/-a/1/subagents/agent-x.jsonl", ("agent", "", "-a", "agent-x", "1")),
        ("projects/-a/1/subagents/deep/agent-x.jsonl", ("agent", "", "-a", "agent-x", "1")),
        ("projects/-a/1/tool-results/t.txt", ("side", "", "-a", "t.txt", "1")),
        ("file-history/1/abc@v1", ("side", "", "", "abc@v1", "1")),
        ("ada/tasks/1/2.json", ("side", "ada", "", "2.json", "1")),
        ("todos/1-agent-1.json", ("side", "", "", "1-agent-1.json", "1")),
        ("projects/-a/.1.jsonl.clew-new", None),
        ("projects/-a/notes.txt", None),
        ("settings.json", None),
        ("", None),
        ("projects", None),
        ("projects/", None),
        ("//projects//x.jsonl", ("session", "/", "", "x", "x")),
    ],
)
def test_a_key_tells_what_its_file_is(key: str, told: tuple[object, ...] | None) -> None:
    assert placed(key) == told


@pytest.mark.parametrize(
    ("root", "who"),
    [
        ("", ("none", "none")),
        (".claude", ("none", "none")),
        ("ada", ("none", "ada")),
        ("ada/.claude", ("none", "ada")),
        ("core/ada", ("core", "ada")),
        ("core/ada/.claude", ("core", "ada")),
        ("core/ada/laptop", ("core", "ada/laptop")),
        ("co\ud800re/ada", ("co\ufffdre", "ada")),
    ],
)
def test_the_first_part_is_the_team_where_there_are_two(root: str, who: tuple[str, str]) -> None:
    assert people(root) == who


def found(*keys: str) -> list[Found]:
    return [Found(key, "etag", 10, 0) for key in keys]


def test_everything_of_a_session_comes_together() -> None:
    files = found(
        "projects/-a/1.jsonl",
        "projects/-a/1/subagents/agent-x.jsonl",
        "projects/-a/1/tool-results/t.txt",
        "projects/-a/agent-y.jsonl",
        "projects/-a/agent-z.jsonl",
        "file-history/1/abc@v1",
        "projects/-b/1.jsonl",
    )
    assert [one.key for one in unplaced(files)] == ["projects/-a/agent-y.jsonl", "projects/-a/agent-z.jsonl"]
    made = groups(files, {"projects/-a/agent-y.jsonl": ("empty", "1")})
    assert [(one.folder, one.session, len(one.members)) for one in made] == [
        ("-a", "1", 5),
        ("-a", "agent-z", 1),
        ("-b", "1", 2),
    ]
    assert len({one.source for one in made}) == 3


def test_a_file_that_changes_comes_or_goes_changes_the_stamp_of_its_session_alone() -> None:
    before = {
        one.session: one.stamp for one in groups(found("projects/-a/1.jsonl", "projects/-a/2.jsonl"), {})
    }
    changed = [*found("projects/-a/1.jsonl"), Found("projects/-a/2.jsonl", "other", 10, 0)]
    after = {one.session: one.stamp for one in groups(changed, {})}
    assert after["1"] == before["1"]
    assert after["2"] != before["2"]
    more = found("projects/-a/1.jsonl", "projects/-a/1/tool-results/t", "projects/-a/2.jsonl")
    assert {one.session: one.stamp for one in groups(more, {})}["1"] != before["1"]
