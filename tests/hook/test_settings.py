"""The client's settings keep every byte that is not clew's, going in and coming out."""

from __future__ import annotations

import json
import os
import stat
from copy import deepcopy
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.actions import hook_install, hook_settings
from clew.actions.hook_install import install, settings_path, this_command, uninstall
from clew.actions.hook_settings import EVENTS, ClientSettingsError, find, installed, removed

COMMAND = "/opt/my\\ tools/bin/clew"
OTHER = {
    "matcher": "",
    "hooks": [{"type": "command", "command": "say clew hook run --not-really", "timeout": 5}],
}

keys = st.sampled_from(["a", "model", "permissions", "env", "Stop", "naïve ☃", 'quo"te', "statusLine2"])
values = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 10**12) | st.floats(0, 9, width=16) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3),
    max_leaves=12,
)
others = st.lists(st.just(OTHER), min_size=1, max_size=2)
hooks = st.dictionaries(st.sampled_from([*EVENTS, "PreToolUse"]), others, min_size=1, max_size=3)
documents = st.dictionaries(keys, values, max_size=4).flatmap(
    lambda held: st.one_of(st.just(held), hooks.map(lambda mine: {**held, "hooks": mine}))
)
styles = st.sampled_from([{"indent": 2}, {"indent": 4}, {"indent": "\t"}, {}, {"separators": (",", ":")}])


def text_of(document: object, style: dict[str, Any], newline: str, end: str) -> str:
    text = json.dumps(document, ensure_ascii=False, **style)
    return (text + end).replace("\n", newline)


@given(documents, styles, st.sampled_from(["\n", "\r\n"]), st.sampled_from(["", "\n", "\n\n"]))
def test_hooks_come_and_go_and_leave_everything_else(
    document: dict[str, Any], style: dict[str, Any], newline: str, end: str
) -> None:
    before = text_of(document, style, newline, end)
    after = installed(before, "settings.json", command=COMMAND, statusline=f"{COMMAND} statusline")
    held = json.loads(after)
    for event in EVENTS:
        group = held["hooks"][event][-1]
        assert group == {
            "hooks": [{"type": "command", "command": f"{COMMAND} hook run {event}", "timeout": 10}]
        }
    assert held["statusLine"] == {"type": "command", "command": f"{COMMAND} statusline"}
    # Nothing else, in the same order.
    rest = deepcopy(held)
    del rest["statusLine"]
    for event in EVENTS:
        rest["hooks"][event].pop()
    rest["hooks"] = {name: groups for name, groups in rest["hooks"].items() if groups}
    if "hooks" not in document:
        assert not rest.pop("hooks")
    assert json.dumps(rest) == json.dumps(document)
    # As those around it: one style of indents and lines.
    if "\r\n" in before:
        assert "\n" not in after.replace("\r\n", "")
    if document and "\n" not in before.strip():
        assert "\n" not in after.strip()
    assert installed(after, "settings.json", command=COMMAND, statusline=f"{COMMAND} statusline") == after
    if document:
        assert removed(after, "settings.json") == before
    else:
        assert json.loads(removed(after, "settings.json")) == {}


def test_the_new_part_is_indented_like_the_rest() -> None:
    before = '{\n    "model": "opus",\n    "hooks": {\n        "Stop": [\n            {\n                "hooks": []\n            }\n        ]\n    }\n}\n'  # noqa: E501
    after = installed(before, "x", command="/bin/clew")
    assert after == json.dumps(json.loads(after), indent=4) + "\n"
    assert after.startswith('{\n    "model": "opus",\n    "hooks": {\n        "Stop": [\n            {\n')


def test_another_clew_takes_the_place_of_the_one_before() -> None:
    old = installed("{}", "x", command="/old/clew", statusline="/old/clew statusline")
    new = installed(old, "x", command="'/new place/clew'", statusline="'/new place/clew' statusline")
    assert "/old" not in new
    assert find(new, "x").events == EVENTS
    assert find(new, "x").is_statusline_ours
    assert removed(new, "x") == removed(old, "x")


def test_a_group_that_holds_others_too_keeps_them() -> None:
    mine = {"type": "command", "command": "/usr/bin/python3 -P -m clew hook run Stop"}
    theirs = {"type": "command", "command": "notify"}
    document = {"hooks": {"Stop": [{"matcher": "", "hooks": [mine, theirs, mine]}]}}
    text = json.dumps(document, indent=2)
    assert json.loads(removed(text, "x")) == {"hooks": {"Stop": [{"matcher": "", "hooks": [theirs]}]}}


@pytest.mark.parametrize(
    "command",
    ["clew hook run", "/a/clew hook run Stop", "'/a b/clew' hook run Stop", '"C:\\x\\clew.exe" hook run Stop',
     "/v/python -P -m clew hook run SessionEnd "],
)  # fmt: skip
def test_these_are_clews(command: str) -> None:
    text = json.dumps({"hooks": {"Stop": [{"hooks": [{"command": command}]}]}})
    assert find(text, "x").commands == (command,)
    assert removed(text, "x") == "{}"


@pytest.mark.parametrize(
    "command",
    ["uncle clew hook runs", "say clew hook run --x", "/a/notclew hook run Stop", "clew hook install", 7],
)
def test_these_are_not(command: object) -> None:
    text = json.dumps({"hooks": {"Stop": [{"hooks": [{"command": command}]}]}})
    assert find(text, "x").commands == ()
    assert removed(text, "x") == text


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{'single': 1}", "no valid JSON: line 1, column 2"),
        ('{\n  "a": 1,\n}', "no valid JSON: line"),
        ('{"a": 1 // note\n}', "no valid JSON"),
        ("[1]", "holds no object"),
        ('"text"', "holds no object"),
        ('{"hooks": []}', "are no object"),
        ('{"hooks": {"Stop": {}}}', 'for "Stop" that are no list'),
        ("[" * 100_000, "no valid JSON"),
    ],
)
def test_what_cannot_be_changed_is_refused_and_left(tmp_path: Path, text: str, why: str) -> None:
    path = tmp_path / "settings.json"
    path.write_text(text)
    with pytest.raises(ClientSettingsError, match=why) as caught:
        install(path, "user", state=tmp_path / "state", command=COMMAND)
    assert "nothing was changed" in (caught.value.hint or "")
    assert path.read_text() == text


@pytest.mark.parametrize(
    "before", ["{}", "{ }\n", '{"a":1}', '{\n\t"a": 1\n}', "\ufeff{}", '{"hooks": {}}', None]
)
def test_taking_out_gives_back_the_very_bytes(tmp_path: Path, before: str | None) -> None:
    path, state = tmp_path / "config" / "settings.json", tmp_path / "state"
    if before is not None:
        path.parent.mkdir()
        path.write_text(before, encoding="utf-8")
        path.chmod(0o640)
    first = install(path, "user", state=state, command=COMMAND)
    assert first.is_done
    assert (first.backup is None) == (before is None)
    assert first.backup is None or Path(first.backup).read_text(encoding="utf-8") == before
    install(path, "user", state=state, command=COMMAND, statusline=True)
    again = install(path, "user", state=state, command=COMMAND, statusline=True)
    assert not again.is_needed
    assert not again.is_done
    if before is not None:
        assert stat.S_IMODE(path.stat().st_mode) == 0o640
    else:
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert uninstall(path, "user", state=state).is_done
    if before is None:
        assert not path.exists()
    else:
        assert path.read_text(encoding="utf-8") == before
        assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert not uninstall(path, "user", state=state).is_needed
    assert {*path.parent.iterdir()} <= {path}


def test_what_somebody_added_meanwhile_stays(tmp_path: Path) -> None:
    path, state = tmp_path / "settings.json", tmp_path / "state"
    path.write_text("{}")
    install(path, "user", state=state, command=COMMAND)
    held = cast("dict[str, object]", json.loads(path.read_text()))
    path.write_text(json.dumps({"model": "opus", **held}, indent=2))
    uninstall(path, "user", state=state)
    assert json.loads(path.read_text()) == {"model": "opus"}


def test_a_link_to_the_settings_stays_one(tmp_path: Path) -> None:
    real, link = tmp_path / "dotfiles.json", tmp_path / "settings.json"
    real.write_text('{\n  "a": 1\n}\n')
    link.symlink_to(real)
    install(link, "user", state=tmp_path / "state", command=COMMAND)
    assert link.is_symlink()
    assert find(real.read_text(), "x").events == EVENTS
    uninstall(link, "user", state=tmp_path / "state")
    assert real.read_text() == '{\n  "a": 1\n}\n'


def test_a_dry_run_touches_nothing(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    change = install(path, "user", state=tmp_path / "state", command=COMMAND, dry_run=True)
    assert change.is_needed
    assert not change.is_done
    assert any("hook run Stop" in line for line in change.diff)
    assert [*tmp_path.iterdir()] == []


def test_a_status_line_of_somebody_else_is_left(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_text('{"statusLine": {"type": "command", "command": "mine"}}')
    change = install(path, "user", state=tmp_path / "state", command=COMMAND, statusline=True)
    assert "left: mine" in change.notes[0]
    assert json.loads(path.read_text())["statusLine"]["command"] == "mine"


def test_few_backups_are_kept_but_the_one_to_go_back_to_always(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hook_install, "_BACKUPS", 3)
    path, state = tmp_path / "settings.json", tmp_path / "state"
    path.write_text('{"first": true}')
    install(path, "user", state=state, command="/0/clew")
    for number in range(1, 8):
        install(path, "user", state=state, command=f"/{number}/clew")
    assert len([*(state / "hook" / "backups").iterdir()]) <= 4
    uninstall(path, "user", state=state)
    assert path.read_text() == '{"first": true}'


def test_the_command_is_that_of_this_clew(tmp_path: Path) -> None:
    program = tmp_path / "my tools" / "clew"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    assert this_command(str(program)) == f"'{program}'"
    assert os.path.isabs(this_command("clew").split()[0])  # noqa: PTH117
    assert "pytest" not in this_command("/usr/bin/pytest")


def test_the_files_are_where_the_client_looks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert settings_path("user") == Path(os.environ["HOME"]) / ".claude" / "settings.json"
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path))
    assert settings_path("user") == tmp_path / "settings.json"
    assert settings_path("project", folder=tmp_path) == tmp_path / ".claude" / "settings.json"
    assert settings_path("local", folder=tmp_path) == tmp_path / ".claude" / "settings.local.json"


def test_the_events_are_those_of_the_plugin() -> None:
    folder = Path(hook_settings.__file__).parents[1] / "faces" / "hook" / "plugin"
    held = json.loads((folder / "hooks" / "hooks.json").read_text())["hooks"]
    assert tuple(held) == EVENTS
    for event, groups in held.items():
        (entry,) = groups[0]["hooks"]
        assert entry["command"] == f"clew hook run {event} 2>/dev/null || true"
        assert entry["timeout"] == hook_settings.TIMEOUT
