"""Settings: whose count, and what is told of those that are broken."""

from __future__ import annotations

import json
import os
import stat
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.agent.setting_files import DEFAULT_TIMEOUT, remember
from clew.agent.settings import load
from clew.errors import RefusedError

if TYPE_CHECKING:
    from pathlib import Path

_OURS = {
    "permissions": {
        "allow": ["Bash(make:*)"],
        "deny": ["Read(~/.ssh/**)"],
        "ask": ["Bash(git push:*)"],
        "additionalDirectories": ["~/notes"],
        "defaultMode": "acceptEdits",
    },
    "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "ours", "timeout": 5}]}]},
    "env": {"A": "user", "B": "user"},
    "model": "opus",
}
_THEIRS = {
    "permissions": {
        "allow": ["Bash(curl:*)"],
        "deny": ["Read(./.env)"],
        "ask": ["Bash(npm publish:*)"],
        "additionalDirectories": ["../other"],
        "defaultMode": "plan",
    },
    "hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "theirs"}]}]},
    "env": {"A": "project"},
}


class _Place:
    def __init__(self, root: Path) -> None:
        self.config = root / "config"
        self.project = root / "project"
        for folder in (self.config, self.project / ".claude"):
            folder.mkdir(parents=True)

    def write(self, name: str, value: object) -> None:
        place = {"user": self.config / "settings.json", "mcp": self.project / ".mcp.json"}.get(name)
        place = place or self.project / ".claude" / name
        place.write_text(value if isinstance(value, str) else json.dumps(value))


@pytest.fixture
def place(tmp_path: Path) -> _Place:
    return _Place(tmp_path)


def test_nothing_there_is_no_problem(tmp_path: Path) -> None:
    found = load(tmp_path / "none", tmp_path)
    assert found.problems == ()
    assert found.counted().mode == "default"


def test_of_a_project_only_what_it_forbids_counts_untrusted(place: _Place) -> None:
    place.write("user", _OURS)
    place.write("settings.json", _THEIRS)
    place.write("settings.local.json", {"permissions": {"allow": ["Bash(wget:*)"]}})
    place.write("mcp", {"mcpServers": {"files": {"command": "x"}}})
    found = load(place.config, place.project)
    counted = found.counted()
    assert [rule.text for rule in counted.rules.allow] == ["Bash(make:*)"]
    assert {rule.text for rule in counted.rules.deny} == {"Read(~/.ssh/**)", "Read(./.env)"}
    assert {rule.text for rule in counted.rules.ask} == {"Bash(git push:*)", "Bash(npm publish:*)"}
    assert [hook.command for hook in counted.hooks] == ["ours"]
    assert counted.hooks[0].timeout == 5
    assert counted.env == {"A": "user", "B": "user"}
    assert counted.mode == "acceptEdits"
    assert counted.servers == {}
    assert counted.model == "opus"
    assert {grant.kind for grant in counted.left_out} == {"allow", "folder", "mode", "hook", "env", "server"}
    assert len(counted.left_out) == 7


def test_what_is_trusted_counts_and_the_nearer_wins(place: _Place) -> None:
    place.write("user", _OURS)
    place.write("settings.json", _THEIRS)
    place.write("mcp", {"mcpServers": {"files": {"command": "x"}}})
    found = load(place.config, place.project)
    counted = found.counted({grant.digest for grant in found.grants()})
    assert [rule.text for rule in counted.rules.allow] == ["Bash(curl:*)", "Bash(make:*)"]
    assert {hook.command for hook in counted.hooks} == {"ours", "theirs"}
    assert counted.env == {"A": "project", "B": "user"}
    assert counted.mode == "plan"
    assert list(counted.servers) == ["files"]
    assert os.path.join(str(place.project.resolve()), "../other") in counted.folders  # noqa: PTH118
    assert counted.left_out == ()


def test_one_grant_is_trusted_without_the_others(place: _Place) -> None:
    place.write("settings.json", _THEIRS)
    found = load(place.config, place.project)
    hook = next(grant for grant in found.grants() if grant.kind == "hook")
    counted = found.counted({hook.digest})
    assert [one.command for one in counted.hooks] == ["theirs"]
    assert counted.rules.allow == ()
    assert hook.digest not in {grant.digest for grant in counted.left_out}


def test_any_change_makes_another_grant(place: _Place) -> None:
    values: list[object] = [
        {"command": "x"},
        {"command": "x", "args": ["y"]},
        {"command": "x", "env": {"A": "1"}},
        {"command": "z"},
    ]
    seen: set[str] = set()
    for value in values:
        place.write("mcp", {"mcpServers": {"files": value}})
        seen |= {grant.digest for grant in load(place.config, place.project).grants()}
    assert len(seen) == len(values)


def test_a_project_never_sets_where_the_key_goes_nor_allows_everything(place: _Place) -> None:
    names = [
        "ANTHROPIC_BASE_URL",
        "ANTHROPIC_API_KEY",
        "CLAUDE_CONFIG_DIR",
        "LD_PRELOAD",
        "HOME",
        "anthropic_x",
    ]
    theirs = {
        "env": dict.fromkeys([*names, "FINE"], "x"),
        "permissions": {"defaultMode": "bypassPermissions"},
    }
    place.write("settings.json", theirs)
    found = load(place.config, place.project)
    counted = found.counted({grant.digest for grant in found.grants()})
    assert counted.env == {"FINE": "x"}
    assert counted.mode == "default"
    assert len(found.problems) == len(names) + 1


def test_a_project_cannot_turn_off_the_persons_own_hooks(place: _Place) -> None:
    place.write("user", _OURS)
    place.write("settings.json", {"disableAllHooks": True})
    assert [hook.command for hook in load(place.config, place.project).counted().hooks] == ["ours"]
    place.write("user", {**_OURS, "disableAllHooks": True})
    assert load(place.config, place.project).counted().hooks == ()


def test_the_organisations_settings_come_first_and_can_forbid_the_open_mode(
    place: _Place, tmp_path: Path
) -> None:
    managed = tmp_path / "managed.json"
    managed.write_text(
        json.dumps({"permissions": {"deny": ["WebFetch"], "disableBypassPermissionsMode": "disable"}})
    )
    place.write("user", {"permissions": {"defaultMode": "bypassPermissions"}})
    counted = load(place.config, place.project, managed=managed).counted()
    assert counted.mode == "default"
    assert counted.forbids_bypass
    assert [rule.text for rule in counted.rules.deny] == ["WebFetch"]


def test_in_ones_home_the_projects_settings_are_ones_own(tmp_path: Path) -> None:
    config = tmp_path / ".claude"
    config.mkdir()
    (config / "settings.json").write_text(json.dumps(_OURS))
    found = load(config, tmp_path)
    assert found.grants() == ()
    assert [hook.command for hook in found.counted().hooks] == ["ours"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", None),
        ("{", "not JSON"),
        ("[]", "not an object"),
        ("\ufeff{}", None),
        ("[" * 100_000, "not JSON"),
        ('{"permissions": 5}', '"permissions"'),
        ('{"permissions": {"allow": "Bash"}}', '"allow"'),
        ('{"permissions": {"allow": [5, "Bash(", "Bash"]}}', "rule"),
        ('{"permissions": {"defaultMode": "yolo"}}', "defaultMode"),
        ('{"permissions": {"defaultMode": {}}}', "defaultMode"),
        ('{"hooks": {"Never": []}}', "never happens"),
        ('{"hooks": {"Stop": [{"hooks": [{"type": "http", "url": "x"}]}]}}', "cannot be run"),
        (
            '{"hooks": {"Stop": [{"matcher": 5, "hooks": [{"type": "command", "command": "x"}]}]}}',
            "cannot be run",
        ),
        ('{"hooks": {"Stop": 5}}', '"Stop"'),
        ('{"env": {"A": {}, "B=": "x", "C": "\\u0000"}}', "cannot be set"),
    ],
)
def test_what_is_wrong_with_a_file_is_told_and_the_rest_counts(
    place: _Place, text: str, told: str | None
) -> None:
    place.write("settings.json", {"permissions": {"deny": ["WebFetch"]}})
    place.write("user", text)
    found = load(place.config, place.project)
    assert [rule.text for rule in found.counted().rules.deny] == ["WebFetch"]
    assert bool(found.problems) is (told is not None)
    assert told is None or all(told in one for one in found.problems)


def test_a_pipe_a_folder_and_bytes_are_no_settings(place: _Place) -> None:
    os.mkfifo(place.config / "settings.json")
    (place.project / ".claude" / "settings.json").mkdir()
    (place.project / ".claude" / "settings.local.json").write_bytes(b"\xff\xfe\x00")
    assert len(load(place.config, place.project).problems) == 3


def test_an_odd_time_limit_is_the_usual_one(place: _Place) -> None:
    for limit in (0, -1, "5", True, 1e300, None):
        hooks = {"Stop": [{"hooks": [{"type": "command", "command": "x", "timeout": limit}]}]}
        place.write("user", {"hooks": hooks})
        assert [hook.timeout for hook in load(place.config, place.project).counted().hooks] == [
            DEFAULT_TIMEOUT
        ]


_JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=6,
)


@given(
    st.dictionaries(st.sampled_from(["permissions", "hooks", "env", "model"]), _JSON),
    st.dictionaries(st.sampled_from(["allow", "deny", "defaultMode", "additionalDirectories"]), _JSON),
    st.dictionaries(st.sampled_from(["Stop", "PreToolUse"]), _JSON),
)
def test_no_form_of_settings_is_an_error(
    tmp_path_factory: pytest.TempPathFactory, top: object, permissions: object, hooks: object
) -> None:
    place = _Place(tmp_path_factory.mktemp("any"))
    place.write("user", json.dumps(top))
    place.write("settings.json", json.dumps({"permissions": permissions, "hooks": hooks}))
    found = load(place.config, place.project)
    found.counted({grant.digest for grant in found.grants()})


def test_a_rule_is_added_and_everything_else_stays(place: _Place) -> None:
    place.write("settings.local.json", {"x": {"y": "é"}, "permissions": {"deny": ["A"], "allow": ["B"]}})
    file = place.project / ".claude" / "settings.local.json"
    file.chmod(0o640)
    remember(place.project, ["Bash(npm test:*)", "B"])
    assert json.loads(file.read_text()) == {
        "x": {"y": "é"},
        "permissions": {"deny": ["A"], "allow": ["B", "Bash(npm test:*)"]},
    }
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert [path.name for path in file.parent.iterdir()] == [file.name]


def test_a_rule_is_added_where_there_is_no_file_yet(tmp_path: Path) -> None:
    file = remember(tmp_path, ["Bash(x)"])
    assert json.loads(file.read_text()) == {"permissions": {"allow": ["Bash(x)"]}}
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


@pytest.mark.parametrize("text", ["{", "[]", '{"permissions": 5}', '{"permissions": {"allow": {}}}'])
def test_a_broken_file_is_not_written_over(place: _Place, text: str) -> None:
    place.write("settings.local.json", text)
    with pytest.raises(RefusedError):
        remember(place.project, ["Bash(x)"])
    assert (place.project / ".claude" / "settings.local.json").read_text() == text


def test_no_rule_is_written_through_a_link(place: _Place, tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.write_text("{}")
    (place.project / ".claude" / "settings.local.json").symlink_to(target)
    with pytest.raises(RefusedError):
        remember(place.project, ["Bash(x)"])
    assert target.read_text() == "{}"
    other = tmp_path / "other"
    other.mkdir()
    (other / ".claude").symlink_to(tmp_path)
    with pytest.raises(RefusedError):
        remember(other, ["Bash(x)"])
