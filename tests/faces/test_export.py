"""Exports as a person makes them: a file, a folder that is brought up to date, standard output."""

from __future__ import annotations

import importlib
import json
import os
import stat
from typing import TYPE_CHECKING, Any

import pytest

from clew.export.registry import OWN
from tests.builder import Builder, call, image, text, thinking
from tests.edit.secrets_planted import SESSION, left_of, sow
from tests.export.hostile import everywhere
from tests.faces.payloads import PAYLOADS, assert_harmless

if TYPE_CHECKING:
    from pathlib import Path

    from tests.faces.console import Console

FIRST = "11111111-1111-4111-8111-111111111111"
SECOND = "22222222-2222-4222-8222-222222222222"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    found = tmp_path / "config"
    put(found, FIRST, talk(FIRST, "Mend the lamp"))
    put(found, SECOND, talk(SECOND, "Paint the tower"))
    return found


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    found = tmp_path / "here"
    found.mkdir()
    monkeypatch.chdir(found)
    return found


def put(root: Path, session: str, data: bytes) -> Path:
    path = root / "projects" / "-home-ada-lighthouse" / f"{session}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    os.utime(path, (1_700_000_000, 1_700_000_000))
    return path


def talk(session: str, title: str) -> bytes:
    builder = Builder(session)
    builder.prompt(title).answer(thinking("Hm."), text("I look."), call("toolu_1", "Bash", {"command": "ls"}))
    builder.result("toolu_1", "lamp.py").answer("It is **mended**.")
    builder.prompt([text("And this?"), image()]).answer("A lamp.")
    builder.line({"type": "ai-title", "aiTitle": title, "sessionId": session})
    return builder.data()


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_one_session_is_a_file_named_by_its_title_that_only_its_owner_reads(
    clew: Console, root: Path, here: Path
) -> None:
    ran = clew("export", FIRST, "--to", "md", "--root", root)
    assert ran.code == 0, ran.err
    path = here / "mend-the-lamp-11111111.md"
    assert ran.out == f"{path}\n"
    assert path.read_text(encoding="utf-8").startswith("# Mend the lamp\n")
    assert mode(path) == 0o600
    assert [one.name for one in here.iterdir()] == [path.name]


@pytest.mark.parametrize("exporter", OWN, ids=lambda one: one.name)
def test_every_format_is_written_to_a_file_and_the_same_to_standard_output(
    clew: Console, root: Path, here: Path, exporter: Any
) -> None:
    ran = clew("export", "@1", "--to", exporter.name, "--root", root, "-o", "x")
    assert ran.code == 0, ran.err
    out = clew("export", "@1", "--to", exporter.name, "--root", root, "-o", "-")
    assert out.code == 0
    assert out.out == (here / "x").read_text(encoding="utf-8")


def test_what_is_there_stays_unless_it_is_to_go(clew: Console, root: Path, here: Path) -> None:
    mine = here / "mine.md"
    mine.write_text("my own words", encoding="utf-8")
    ran = clew("export", FIRST, "--to", "md", "--root", root, "-o", mine)
    assert ran.code == 4
    assert mine.read_text(encoding="utf-8") == "my own words"
    assert clew("export", FIRST, "--to", "md", "--root", root, "-o", mine, "--force").code == 0
    assert mine.read_text(encoding="utf-8").startswith("# Mend the lamp")
    assert mode(mine) == 0o600


def test_a_link_is_never_followed(clew: Console, root: Path, here: Path) -> None:
    other = here / "other"
    other.write_text("elsewhere", encoding="utf-8")
    (here / "link.md").symlink_to(other)
    assert clew("export", FIRST, "--to", "md", "--root", root, "-o", "link.md").code == 4
    assert clew("export", FIRST, "--to", "md", "--root", root, "-o", "link.md", "--force").code == 0
    assert other.read_text(encoding="utf-8") == "elsewhere"
    assert not (here / "link.md").is_symlink()


@pytest.mark.parametrize("target", ["missing/x.md", "pipe"])
def test_where_no_file_can_be_it_is_said(clew: Console, root: Path, here: Path, target: str) -> None:
    os.mkfifo(here / "pipe")
    ran = clew("export", FIRST, "--to", "md", "--root", root, "-o", target)
    assert ran.code == 1
    assert "try: " in ran.err


def test_turns_and_ways_are_chosen_as_in_show(clew: Console, root: Path, here: Path) -> None:
    ran = clew("export", FIRST, "--to", "json", "--root", root, "-o", "-", "--turn", "2")
    assert [turn["n"] for turn in json.loads(ran.out)["turns"]] == [2]
    assert clew("export", FIRST, "--to", "json", "--root", root, "-o", "-", "--turn", "9").code == 1
    ran = clew("export", FIRST, "--to", "api", "--root", root, "-o", "-", "--turn", "2")
    assert ran.code == 1
    assert "--at" in ran.err
    ran = clew("export", FIRST, "--to", "api", "--root", root, "-o", "-", "--at", "u2")
    context = clew("context", FIRST, "--json", "--root", root, "--at", "u2")
    assert json.loads(ran.out)["messages"] == json.loads(context.out)["messages"]


def test_the_request_is_what_context_prints(clew: Console, root: Path) -> None:
    told = json.loads(clew("export", FIRST, "--to", "api", "--root", root, "-o", "-").out)
    context = json.loads(clew("context", FIRST, "--json", "--root", root).out)
    assert told["messages"] == context["messages"]
    assert told["model"] == context["model"]


def test_thinking_can_be_left_out(clew: Console, root: Path) -> None:
    for format_ in ("md", "text", "json", "jsonl", "api", "atif"):
        whole = clew("export", FIRST, "--to", format_, "--root", root, "-o", "-").out
        assert "Hm." in whole, format_
        assert (
            "Hm."
            not in clew("export", FIRST, "--to", format_, "--root", root, "-o", "-", "--no-thinking").out
        )


# A folder ---------------------------------------------------------------------------------------------


def test_many_sessions_are_a_folder_with_an_index(clew: Console, root: Path, here: Path) -> None:
    ran = clew("export", "--all", "--to", "md", "--root", root, "-o", "site")
    assert ran.code == 0, ran.err
    site = here / "site"
    names = {path.name for path in site.iterdir()}
    assert names == {
        *("mend-the-lamp-11111111.md", "paint-the-tower-22222222.md", "README.md", ".clew-export.jsonl")
    }
    assert {mode(path) for path in site.iterdir()} == {0o600}
    assert mode(site) == 0o700
    index = (site / "README.md").read_text(encoding="utf-8")
    assert "[Mend the lamp](mend-the-lamp-11111111.md)" in index


def test_only_what_changed_is_written_again_and_what_is_gone_is_kept(
    clew: Console, root: Path, here: Path
) -> None:
    def export(*more: str) -> dict[str, Any]:
        ran = clew("export", "--all", "--to", "json", "--root", root, "-o", "site", "--json", *more)
        assert ran.code == 0, ran.err
        return json.loads(ran.out)

    assert len(export()["written"]) == 2
    again = export()
    assert (again["written"], again["unchanged"]) == ([], 2)
    path = put(root, FIRST, talk(FIRST, "Mend the lamp") + talk(FIRST, "And the bell"))
    once_more = export()
    # It keeps its name, whatever its title is now.
    assert [one["file"] for one in once_more["written"]] == ["mend-the-lamp-11111111.json"]
    path.unlink()
    last = export()
    assert (last["written"], last["unchanged"], last["gone"]) == ([], 1, 1)
    index = json.loads((here / "site" / "index.json").read_bytes())
    assert {one["file"]: one["gone"] for one in index["sessions"]} == {
        "mend-the-lamp-11111111.json": True,
        "paint-the-tower-22222222.json": False,
    }
    assert len(export("--no-thinking")["written"]) == 1


def test_files_of_others_in_the_folder_stay(clew: Console, root: Path, here: Path) -> None:
    site = here / "site"
    site.mkdir()
    theirs = site / "mend-the-lamp-11111111.md"
    theirs.write_text("theirs", encoding="utf-8")
    ran = clew("export", "--all", "--to", "md", "--root", root, "-o", "site")
    assert ran.code == 3
    assert "clew did not write it" in ran.err
    assert theirs.read_text(encoding="utf-8") == "theirs"
    assert (site / "paint-the-tower-22222222.md").exists()
    ours = site / "paint-the-tower-22222222.md"
    ours.write_text("changed by hand", encoding="utf-8")
    ran = clew("export", "--all", "--to", "md", "--root", root, "-o", "site")
    assert "was changed since" in ran.err
    assert ours.read_text(encoding="utf-8") == "changed by hand"
    assert clew("export", "--all", "--to", "md", "--root", root, "-o", "site", "--force").code == 0
    assert theirs.read_text(encoding="utf-8").startswith("# Mend")


def test_a_bad_session_costs_only_itself(clew: Console, root: Path, here: Path) -> None:
    put(root, "33333333-3333-4333-8333-333333333333", talk("3", "Short")[:-200] + b"\xff\x00{")
    bad = put(root, "44444444-4444-4444-8444-444444444444", talk("4", "Secret"))
    bad.chmod(0)
    ran = clew("export", "--all", "--to", "text", "--root", root, "-o", "site")
    assert ran.code == 3
    assert len(list((here / "site").glob("*.txt"))) >= 3
    bad.chmod(0o600)


def test_a_manifest_names_nothing_outside_its_folder(clew: Console, root: Path, here: Path) -> None:
    site, outside = here / "site", here / "outside.md"
    site.mkdir()
    outside.write_text("mine", encoding="utf-8")
    source = str(root / "projects" / "-home-ada-lighthouse" / f"{FIRST}.jsonl")
    line = {"name": "../outside.md", "source": source, "format": "md", "stamp": "x", "digest": "y", "size": 4}
    (site / ".clew-export.jsonl").write_text(json.dumps(line) + "\n[1]\n\xff\n", encoding="latin-1")
    assert clew("export", "--all", "--to", "md", "--root", root, "-o", "site", "--force").code == 0
    assert outside.read_text(encoding="utf-8") == "mine"
    assert (site / "mend-the-lamp-11111111.md").exists()


def test_a_file_that_was_begun_is_known_for_ours(clew: Console, root: Path, here: Path) -> None:
    """A process that is killed between its note and the file's name leaves a file that may be replaced."""
    site = here / "site"
    site.mkdir()
    (site / "mend-the-lamp-11111111.md").write_text("half", encoding="utf-8")
    planned = {"name": "mend-the-lamp-11111111.md", "source": "", "format": "md", "stamp": ""}
    (site / ".clew-export.jsonl").write_text(json.dumps(planned) + "\n", encoding="utf-8")
    assert clew("export", "--all", "--to", "md", "--root", root, "-o", "site").code == 0
    assert (site / "mend-the-lamp-11111111.md").read_text(encoding="utf-8").startswith("# Mend")


def test_lines_of_several_sessions_go_to_standard_output(clew: Console, root: Path) -> None:
    ran = clew("export", "--all", "--to", "openai", "--root", root, "-o", "-")
    assert [list(json.loads(line)) for line in ran.lines] == [["messages", "tools"]] * 2
    ran = clew("export", "--all", "--to", "json", "--root", root, "-o", "-")
    assert ran.code == 1
    ran = clew("export", FIRST, SECOND, "--to", "openai", "--root", root, "-o", "-")
    assert len(ran.lines) == 2


def test_sessions_are_chosen_by_what_they_have_in_common(clew: Console, root: Path, here: Path) -> None:
    ran = clew("export", "--project", "nowhere", "--to", "md", "--root", root, "--json")
    assert json.loads(ran.out)["written"] == []
    ran = clew("export", "--project", "lighthouse", "--to", "md", "--root", root, "--json")
    assert len(json.loads(ran.out)["written"]) == 2
    assert (here / "clew-export" / "README.md").exists()
    ran = clew("export", "--since", "2d", "--to", "md", "--root", root, "--json")
    assert json.loads(ran.out)["written"] == []


# Secrets ----------------------------------------------------------------------------------------------


def test_what_is_made_to_be_shown_has_no_secrets_and_the_rest_keeps_them(
    clew: Console, tmp_path: Path, here: Path
) -> None:
    root = tmp_path / "sown"
    sown = sow(root)
    ran = clew("export", SESSION, "--to", "md", "--root", root, "-o", "a.md", "--json")
    assert ran.code == 0, ran.err
    assert sum(json.loads(ran.out)["redacted"].values()) > 200
    assert left_of((here / "a.md").read_bytes(), sown) == []
    clew("export", SESSION, "--to", "md", "--root", root, "-o", "b.md", "--no-redact")
    assert sum(one.secret.encode() in (here / "b.md").read_bytes() for one in sown) > 40
    assert all(path.stat().st_mtime == 1_700_000_000 for path in root.rglob("*") if path.is_file())


def test_a_pattern_says_what_else_is_a_secret(clew: Console, root: Path, here: Path) -> None:
    ran = clew("export", FIRST, "--to", "text", "--root", root, "-o", "-", "--pattern", "l[a]mp")
    assert "lamp" not in ran.out
    assert "[redacted:" in ran.out


# Bundles ----------------------------------------------------------------------------------------------


def test_a_bundle_is_made_and_can_be_imported_elsewhere(
    clew: Console, root: Path, here: Path, tmp_path: Path
) -> None:
    ran = clew("export", FIRST, "--to", "bundle", "--root", root)
    assert ran.code == 0, ran.err
    path = here / "mend-the-lamp-11111111.clew"
    assert ran.out == f"{path}\n"
    assert clew("export", FIRST, "--to", "bundle", "--root", root).code == 4
    assert clew("export", FIRST, "--to", "bundle", "--root", root, "--force").code == 0
    assert [one.name for one in here.iterdir()] == [path.name]
    other = tmp_path / "other"
    (other / "projects").mkdir(parents=True)
    assert clew("import", path, "--root", other).code == 0
    assert len(list(other.rglob(f"{FIRST}.jsonl"))) == 1


def test_many_bundles_are_a_folder(clew: Console, root: Path, here: Path) -> None:
    ran = clew("export", "--all", "--to", "bundle", "--root", root, "-o", "kept", "--json")
    assert ran.code == 0, ran.err
    assert len(json.loads(ran.out)["written"]) == 2
    assert len(list((here / "kept").glob("*.clew"))) == 2
    assert clew("export", "--all", "--to", "bundle", "--root", root, "-o", "kept").code == 3


# Wrong use, the list, the terminal ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments",
    [
        ["@1"],
        ["--to", "md"],
        ["@1", "--all", "--to", "md"],
        ["@1", "--to", "markdwn"],
        ["@1", "--to", "md", "--at", "u1", "--branch", "1"],
        ["@1", "--to", "md", "--no-redact", "--pattern", "x"],
        ["@1", "--to", "md", "-o", "-", "--json"],
        ["@1", "--to", "parquet", "--no-redact", "--pattern", "x"],
        ["@1", "--to", "parquet", "--turn", "1"],
        ["@1", "--to", "parquet", "-o", "-"],
        ["nobody", "--to", "md"],
    ],
)
def test_wrong_use_is_an_error_with_a_way_out(clew: Console, root: Path, arguments: list[str]) -> None:
    ran = clew("export", *arguments, "--root", root)
    assert ran.code == 1
    assert ran.out == ""
    assert "try: " in ran.err or json.loads(ran.err)["error"]["hint"]


def test_the_formats_are_listed(clew: Console) -> None:
    ran = clew("export", "--list")
    assert [line.split()[0] for line in ran.lines][:3] == ["html", "md", "text"]
    told = json.loads(clew("export", "--list", "--json").out)
    assert {one["name"] for one in told if one["redacts"]} == {"html", "md", "bundle"}


@pytest.mark.parametrize("format_", ["text", "md", "json"])
def test_nothing_acts_on_a_terminal(clew: Console, root: Path, format_: str) -> None:
    for at, payload in enumerate(PAYLOADS[::6] if format_ == "json" else PAYLOADS):
        session = f"55555555-5555-4555-8555-{at:012}"
        put(root, session, everywhere(payload, session))
        ran = clew("export", session, "--to", format_, "--root", root, "-o", "-", "--no-redact", width=80)
        assert ran.code == 0, ran.err
        assert_harmless(ran.out)


def test_secrets_that_stay_are_told(clew: Console, root: Path, here: Path) -> None:
    builder = Builder(FIRST).prompt("Light lamp-12345678.")
    builder.answer(call("toolu_1", "Bash", {"lamp-12345678": "lit"}))
    put(root, FIRST, builder.result("toolu_1").answer("Done.").data())
    own = ["--redact", "--pattern", "lamp-[0-9]{8}", "--root", root]
    stays = "note: 1 secret stays in it, as a name or an id that holds the session together\n"
    for target in ("a.md", "-"):
        assert clew("export", FIRST, "--to", "md", "-o", target, *own).err.endswith(stays)
    assert json.loads(clew("export", FIRST, "--to", "json", "-o", "b", "--json", *own).out)["left"] == 1
    assert clew("export", "--all", "--to", "openai", "-o", "-", *own).err.endswith(stays)
    ran = clew("export", "--all", "--to", "md", "--json", *own)
    assert {one["session"]: one["left"] for one in json.loads(ran.out)["written"]} == {FIRST: 1, SECOND: 0}
    assert ran.err.endswith(stays)
    again = clew("export", "--all", "--to", "md", *own)
    assert "2 as before" in again.err
    assert again.err.endswith(stays)
    without = clew("export", FIRST, "--to", "md", "-o", "c.md", "--no-redact", "--json", "--root", root)
    assert json.loads(without.out)["left"] is None
    assert without.err == ""


@pytest.mark.parametrize("format_", ["html", "jsonl", "parquet", "bundle"])
def test_of_no_sessions_nothing_is_written_and_the_folders_are_named(
    clew: Console, tmp_path: Path, here: Path, format_: str
) -> None:
    empty = tmp_path / "empty"
    (empty / "projects").mkdir(parents=True)
    ran = clew("export", "--all", "--to", format_, "--root", empty)
    assert (ran.code, ran.out, ran.err) == (0, "", f"No sessions in {empty}.\n")
    told = clew("export", "--all", "--to", format_, "--root", empty, "--json")
    assert (told.code, json.loads(told.out)["looked_in"]) == (0, [str(empty)])
    assert not any(json.loads(told.out).get(name) for name in ("written", "tables", "index", "failed"))
    assert [*here.iterdir()] == []


def test_sessions_that_do_not_fit_are_no_reason_to_write_either(
    clew: Console, root: Path, here: Path
) -> None:
    ran = clew("export", "--project", "moon", "--to", "html", "--root", root)
    assert (ran.code, ran.out, ran.err) == (0, "", f"Of 2 sessions in {root} none fits.\n")
    assert [*here.iterdir()] == []
    assert clew("export", "--all", "--to", "jsonl", "-o", "-", "--project", "moon", "--root", root).out == ""


def test_an_index_is_brought_up_to_date_when_the_last_session_is_gone(
    clew: Console, root: Path, here: Path
) -> None:
    assert clew("export", "--all", "--to", "html", "--root", root).code == 0
    for path in root.rglob("*.jsonl"):
        path.unlink()
    ran = clew("export", "--all", "--to", "html", "--root", root)
    assert (ran.code, ran.out) == (0, f"{here / 'clew-export' / 'index.html'}\n")
    assert "2 kept whose sessions are gone" in ran.err
    assert f"No sessions in {root}." in ran.err


def test_the_tables_are_without_secrets_on_request(clew: Console, tmp_path: Path, here: Path) -> None:
    parquet: Any = importlib.import_module("pyarrow.parquet")  # it has no types
    sown = sow(tmp_path / "config")
    given = ["--all", "--to", "parquet", "--root", tmp_path / "config"]
    ran = clew("export", *given, "--redact", "-o", "clean", "--json")
    told = json.loads(ran.out)
    assert (ran.code, len(told["tables"])) == (0, 8), ran.err
    assert sum(told["redacted"].values()) > 200
    read = [parquet.read_table(one["path"]).to_pylist() for one in told["tables"]]
    assert left_of(json.dumps(read).encode(), sown) == []
    with_them = clew("export", *given, "-o", "plain", "--json")
    assert (json.loads(with_them.out)["redacted"], json.loads(with_them.out)["left"]) == (None, None)
    said = clew("export", *given, "--pattern", "lighthouse", "-o", "own")
    assert "secrets taken out\n" in said.err
    names = parquet.read_table(here / "own" / "sessions.parquet").column("project").to_pylist()
    assert "lighthouse" not in names[0]
