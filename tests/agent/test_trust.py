"""What the person trusts of a project's own settings is remembered, and nothing else."""

from __future__ import annotations

import json
import stat
from typing import TYPE_CHECKING

import pytest

from clew.agent.setting_files import remember
from clew.agent.settings import Grant, Settings, load, rule_grant
from clew.agent.trust import Trust, settle

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


class _Asked:
    """Somebody who always gives the same answer, and remembers what was asked."""

    def __init__(self, answer: bool) -> None:
        self.answer = answer
        self.seen: list[list[str]] = []

    def __call__(self, grants: Sequence[Grant]) -> bool:
        self.seen.append([grant.text for grant in grants])
        return self.answer


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project" / ".claude"
    folder.mkdir(parents=True)
    return folder.parent


def _settings(project: Path, *allowed: str, **more: object) -> Settings:
    value = {"permissions": {"allow": list(allowed)}, **more}
    (project / ".claude" / "settings.json").write_text(json.dumps(value))
    return load(project.parent / "config", project)


def test_a_yes_is_remembered_for_exactly_what_was_shown(project: Path, tmp_path: Path) -> None:
    trust, asked = Trust(tmp_path / "state"), _Asked(answer=True)
    settings = _settings(project, "Bash(make:*)")
    assert len(settle(trust, settings, ask=asked)) == 1
    assert len(settle(trust, settings, ask=asked)) == 1
    assert asked.seen == [["allow Bash(make:*)"]]
    more = _settings(project, "Bash(make:*)", "Bash(curl:*)")
    assert len(settle(trust, more, ask=_Asked(answer=False))) == 1
    settle(trust, more, ask=asked)
    assert asked.seen[-1] == ["allow Bash(curl:*)"]
    assert [rule.text for rule in more.counted(settle(trust, more, ask=None)).rules.allow] == [
        "Bash(make:*)",
        "Bash(curl:*)",
    ]


def test_a_no_is_no_and_is_asked_again(project: Path, tmp_path: Path) -> None:
    trust, asked = Trust(tmp_path / "state"), _Asked(answer=False)
    settings = _settings(project, "Bash(make:*)")
    assert settle(trust, settings, ask=asked) == frozenset()
    assert settle(trust, settings, ask=asked) == frozenset()
    assert len(asked.seen) == 2
    assert not (tmp_path / "state").exists()


def test_without_a_terminal_nothing_new_counts_unless_an_option_says_so(
    project: Path, tmp_path: Path
) -> None:
    trust = Trust(tmp_path / "state")
    hooks = {"Stop": [{"hooks": [{"type": "command", "command": "x"}]}]}
    settings = _settings(project, "Bash(make:*)", hooks=hooks)
    assert settings.counted(settle(trust, settings, ask=None)).hooks == ()
    assert len(settings.counted(settle(trust, settings, ask=None, assume=True)).hooks) == 1
    assert settle(trust, settings, ask=None) == frozenset()  # it was for that time only


def test_a_hook_with_another_command_is_another(project: Path, tmp_path: Path) -> None:
    trust = Trust(tmp_path / "state")
    for command in ("x", "y"):
        hooks = {"Stop": [{"hooks": [{"type": "command", "command": command}]}]}
        settings = _settings(project, hooks=hooks)
        asked = _Asked(answer=True)
        settle(trust, settings, ask=asked)
        assert asked.seen == [[f"run at Stop: {command}"]]


def test_trust_is_for_one_project_by_whichever_name(project: Path, tmp_path: Path) -> None:
    trust = Trust(tmp_path / "state")
    grant = rule_grant("Bash(x)")
    trust.accept(project, [grant])
    link = tmp_path / "link"
    link.symlink_to(project)
    assert trust.known(link) == {grant.digest}
    assert trust.known(tmp_path) == frozenset()
    trust.forget(link)
    assert trust.known(project) == frozenset()


def test_what_was_trusted_is_for_the_owner_alone(project: Path, tmp_path: Path) -> None:
    trust = Trust(tmp_path / "state")
    trust.accept(project, [rule_grant("Bash(x)")])
    (file,) = (tmp_path / "state" / "trust").iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"trusted": 5}', '{"trusted": ["x"]}', '{"project": 1, "trusted": []}']
)
def test_what_cannot_be_read_trusts_nothing_and_is_mended(project: Path, tmp_path: Path, text: str) -> None:
    trust = Trust(tmp_path / "state")
    grant = rule_grant("Bash(x)")
    trust.accept(project, [grant])
    (file,) = (tmp_path / "state" / "trust").iterdir()
    file.write_text(text)
    assert trust.known(project) == frozenset()
    trust.accept(project, [grant])
    assert trust.known(project) == {grant.digest}


def test_a_record_moved_to_another_projects_place_trusts_nothing(project: Path, tmp_path: Path) -> None:
    trust = Trust(tmp_path / "state")
    trust.accept(project, [rule_grant("Bash(x)")])
    (mine,) = (tmp_path / "state" / "trust").iterdir()
    trust.accept(tmp_path, [])
    other = next(file for file in mine.parent.iterdir() if file != mine)
    other.write_bytes(mine.read_bytes())
    assert trust.known(tmp_path) == frozenset()


def test_a_rule_the_person_made_counts_next_time_and_the_projects_do_not(
    project: Path, tmp_path: Path
) -> None:
    trust = Trust(tmp_path / "state")
    _settings(project, "Bash(curl:*)")
    remember(project, ["Bash(npm test:*)"])
    trust.accept(project, [rule_grant("Bash(npm test:*)")])
    settings = load(tmp_path / "config", project)
    counted = settings.counted(settle(trust, settings, ask=None))
    assert [rule.text for rule in counted.rules.allow] == ["Bash(npm test:*)"]
