"""Single points of the decision that the table leaves out."""

from __future__ import annotations

import pytest

from clew.agent.permissions import MODES, is_hidden
from clew.agent.tool import Reach
from tests.agent.permitting.places import Place, rules


@pytest.mark.parametrize(
    "name",
    [
        ".git/config", ".git/hooks/pre-commit", "deep/.git/HEAD", ".GIT/config", ".git", ".bashrc",
        ".claude/settings.json", ".claude/settings.local.json", ".claude/hooks/x.sh", "deep/.zshrc",
        ".profile", ".mcp.json", ".vscode/tasks.json", ".husky/pre-commit", ".envrc", ".gitconfig",
    ],
)  # fmt: skip
@pytest.mark.parametrize("mode", MODES)
def test_files_that_make_others_run_something_are_written_only_after_asking(
    place: Place, name: str, mode: str
) -> None:
    reach = Reach(writes=(f"{place.project}/{name}",))
    counted = rules(allow=["Edit", "Write", "Bash", "Edit(**)", "Edit(//**)"])
    expected = {"bypassPermissions": "allow", "plan": "deny", "dontAsk": "deny"}.get(mode, "ask")
    found = place.call("Write", reach, mode=mode, counted=counted)
    assert found.verdict == expected
    assert found.proposals == ()
    assert place.shell(f"echo x > {name}", mode=mode, allow=["Bash", "Edit"]).verdict == expected


def test_the_store_of_sessions_is_written_only_after_asking(place: Place) -> None:
    store = place.root / "project" / "store"
    reach = Reach(writes=(f"{store}/projects/x.jsonl",))
    counted = rules(allow=["Edit"])
    assert place.call("Edit", reach, mode="acceptEdits", counted=counted).verdict == "allow"
    found = place.call("Edit", reach, mode="acceptEdits", counted=counted, protected=[str(store)])
    assert found.verdict == "ask"
    assert found.is_firm


def test_a_link_counts_as_what_it_leads_to(place: Place) -> None:
    assert place.call("Read", Reach(reads=(f"{place.project}/link",))).verdict == "ask"
    assert place.call("Write", Reach(writes=(f"{place.project}/link",)), mode="acceptEdits").verdict == "ask"
    denied = rules(deny=[f"Read(/{place.outside}/**)"])
    assert place.call("Read", Reach(reads=(f"{place.project}/link",)), counted=denied).verdict == "deny"
    by_name = rules(deny=["Read(./link)"])
    assert place.call("Read", Reach(reads=(f"{place.project}/link",)), counted=by_name).verdict == "deny"


def test_a_link_to_a_protected_file_is_protected(place: Place) -> None:
    (place.root / "project" / "plain").symlink_to(place.root / "project" / ".git" / "config")
    assert place.call("Edit", Reach(writes=(f"{place.project}/plain",)), mode="acceptEdits").verdict == "ask"


def test_a_protected_name_is_protected_wherever_it_leads(place: Place) -> None:
    (place.root / "project" / ".bashrc").symlink_to(place.root / "project" / "b.txt")
    assert (
        place.call("Edit", Reach(writes=(f"{place.project}/.bashrc",)), mode="acceptEdits").verdict == "ask"
    )


def test_where_a_shell_has_moved_to_is_looked_at_too(place: Place) -> None:
    for line in ("ls", "git status", "find . -name x", "grep -r x"):
        assert place.shell(line, cwd=place.outside).verdict == "ask"
        assert place.shell(line, cwd=f"{place.project}/way").verdict == "ask"
        assert place.shell(line, cwd=f"{place.project}/src").verdict == "allow"


def test_a_neighbour_of_the_project_is_outside(place: Place) -> None:
    assert place.call("Read", Reach(reads=(f"{place.project}-two/x",))).verdict == "ask"
    assert place.call("Read", Reach(reads=(f"{place.project}/../outside/secret",))).verdict == "ask"


def test_a_path_that_is_not_absolute_or_no_path_is_never_allowed_by_itself(place: Place) -> None:
    assert place.call("Write", Reach(writes=("",)), mode="default").verdict == "ask"
    for path in ("/\udc80x", "/\ud800x", "/a\0b", f"{place.project}/a\0b", "x" * 100_000, "/" + "x/" * 5000):
        assert place.call("Read", Reach(reads=(path,))).verdict == "ask"
        assert place.call("Write", Reach(writes=(path,)), mode="acceptEdits").verdict == "ask"


def test_who_may_change_a_file_may_see_it(place: Place) -> None:
    counted = rules(allow=[f"Edit(/{place.outside}/**)"])
    assert place.call("Read", Reach(reads=(f"{place.outside}/secret",)), counted=counted).verdict == "allow"


def test_a_file_that_must_not_be_read_is_not_changed_either(place: Place) -> None:
    counted = rules(deny=["Read(./.env)"], allow=["Edit"])
    reach = Reach(writes=(f"{place.project}/.env",))
    assert place.call("Edit", reach, mode="bypassPermissions", counted=counted).verdict == "deny"


def test_every_tool_that_writes_is_bound_by_a_rule_about_edits(place: Place) -> None:
    counted = rules(deny=["Edit(src/**)"])
    for tool in ("Edit", "Write", "MultiEdit", "NotebookEdit", "Other"):
        reach = Reach(writes=(f"{place.project}/src/a.py",))
        assert place.call(tool, reach, mode="bypassPermissions", counted=counted).verdict == "deny"
    for line in ("echo x > src/a.py", "tee src/a.py", "sed -i s/a/b/ src/a.py", "cd src && rm a.py"):
        assert place.shell(line, mode="bypassPermissions", deny=["Edit(src/**)"]).verdict == "deny", line


def test_a_rule_for_one_writing_tool_is_not_one_for_another(place: Place) -> None:
    reach = Reach(writes=(f"{place.project}/b.txt",))
    assert place.call("Edit", reach, counted=rules(allow=["Write(b.txt)"])).verdict == "ask"
    assert place.call("Write", reach, counted=rules(allow=["Write(b.txt)"])).verdict == "allow"


def test_several_things_are_allowed_only_if_each_is(place: Place) -> None:
    reach = Reach(reads=(f"{place.project}/b.txt", f"{place.outside}/secret"), writes=(f"{place.project}/c",))
    assert place.call("Odd", reach, mode="acceptEdits").verdict == "ask"
    found = place.call("Odd", reach)
    assert set(found.proposals) == {f"Read(/{place.outside}/secret)", f"Edit(/{place.project}/c)"}
    assert place.call("Odd", reach, counted=rules(allow=found.proposals)).verdict == "allow"


@pytest.mark.parametrize(
    ("tool", "given", "rule", "verdict"),
    [
        ("Task", {"subagent_type": "Explore"}, "Task(Explore)", "deny"),
        ("Agent", {"subagent_type": "Explore"}, "Task(Explore)", "deny"),
        ("Task", {"subagent_type": "Plan"}, "Task(Explore)", "allow"),
        ("Skill", {"skill": "deploy"}, "Skill(deploy:*)", "deny"),
        ("Odd", {"x": "y"}, "Odd(z)", "ask"),
    ],
)
def test_a_rule_about_the_input_of_a_tool_is_heeded_or_asked_about(
    place: Place, tool: str, given: dict[str, object], rule: str, verdict: str
) -> None:
    assert place.call(tool, Reach(), given=given, counted=rules(deny=[rule])).verdict == verdict


def test_a_shell_that_tells_no_command_is_judged_by_its_input(place: Place) -> None:
    assert place.call("Bash", Reach(), given={"command": "rm -rf /"}).verdict == "ask"
    assert (
        place.call("Bash", Reach(), given={"command": 5}).verdict == "allow"
    )  # the tool tells what is wrong


def test_files_hidden_by_a_rule_are_known_to_searches(place: Place) -> None:
    counted = rules(deny=["Read(.env)", "Bash"])
    assert is_hidden(f"{place.project}/deep/.env", counted, project=place.project, cwd=place.project)
    assert not is_hidden(f"{place.project}/b.txt", counted, project=place.project, cwd=place.project)


def test_a_file_in_a_line_that_is_not_understood_is_asked_about_in_every_mode(place: Place) -> None:
    line = "case x in x) cat .env;; esac"
    assert place.shell(line, mode="bypassPermissions", deny=["Read(./.env)"]).verdict == "ask"
    assert place.shell(line, mode="bypassPermissions", deny=["Read(./other)"]).verdict == "allow"
