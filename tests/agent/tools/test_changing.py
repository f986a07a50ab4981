"""Files are changed only when they are known, whole or not at all, and nothing about them changes beside."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.agent.cancel import CancelledError
from clew.agent.tools import replacing
from clew.agent.tools.edit import Edit
from clew.agent.tools.multi_edit import MultiEdit
from clew.agent.tools.read import Read
from clew.agent.tools.write import Write
from clew.format import results_files as views
from tests.agent.tools.desk import Desk, desk, structured, words

if TYPE_CHECKING:
    from collections.abc import Callable

    from clew.agent.tool import Tool


@pytest.fixture
def at(tmp_path: Path) -> Desk:
    """A place to work in."""
    return desk(tmp_path)


def _known(at: Desk, name: str, data: bytes | str) -> str:
    path = at.write(name, data)
    assert not at.run(Read(), file_path=path).is_error
    return path


def _calls(path: str) -> list[tuple[Tool, dict[str, Any]]]:
    """A call of each tool that would change a file."""
    return [
        (Edit(), {"file_path": path, "old_string": "one", "new_string": "two"}),
        (MultiEdit(), {"file_path": path, "edits": [{"old_string": "one", "new_string": "two"}]}),
        (Write(), {"file_path": path, "content": "two\n"}),
    ]


def test_a_file_that_was_not_read_is_not_changed(at: Desk) -> None:
    path = at.write("a.txt", "one\n")
    for tool, call in _calls(path):
        assert words(at.run(tool, **call)) == (
            "<tool_use_error>File has not been read yet. Read it first before writing to it.</tool_use_error>"
        )
    assert Path(path).read_text() == "one\n"
    assert at.changed == []


def test_a_file_that_changed_since_is_not_changed(at: Desk) -> None:
    path = _known(at, "a.txt", "one\n")
    facts = Path(path).stat()
    Path(path).write_text("one!")
    os.utime(path, ns=(facts.st_atime_ns, facts.st_mtime_ns))
    for tool, call in _calls(path):
        assert "modified since read" in words(at.run(tool, **call))
    assert Path(path).read_text() == "one!"


def test_a_file_that_was_touched_may_be_changed(at: Desk) -> None:
    path = _known(at, "a.txt", "one\n")
    os.utime(path, ns=(5, 5))
    assert not at.run(Edit(), file_path=path, old_string="one", new_string="two").is_error


def test_what_was_written_is_known(at: Desk) -> None:
    path = str(at.folder / "new/deep/a.txt")
    created = at.run(Write(), file_path=path, content="one\n")
    assert words(created).startswith(f"File created successfully at: {path}")
    for tool, call in _calls(path):
        assert not at.run(tool, **call).is_error
        at.run(Write(), file_path=path, content="one\n")
    assert at.changed == [path] * 7


@pytest.mark.parametrize("kind", range(3))
def test_what_it_was_can_be_kept_before_each_change(at: Desk, kind: int) -> None:
    path = _known(at, "a.txt", "one\n")
    kept: list[str] = []
    work = at.work()
    work.before_change = lambda changed: kept.append(Path(changed).read_text())
    tool, call = _calls(path)[kind]
    tool.run(call, work)
    assert kept == ["one\n"]
    assert Path(path).read_text() == "two\n"


def test_when_it_cannot_be_kept_nothing_changes(at: Desk) -> None:
    path = _known(at, "a.txt", "one\n")

    def fail(_: str) -> None:
        raise OSError(28, "No space left on device")

    for tool, call in _calls(path):
        work = at.work()
        work.before_change = fail
        assert "ENOSPC" in words(tool.run(call, work))
    assert Path(path).read_text() == "one\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"one\r\nx\r\n", b"two\r\nx\r\n"),
        (b"\xef\xbb\xbfone\n", b"\xef\xbb\xbftwo\n"),
        ("\ufeffone\r\n".encode("utf-16-le"), "\ufefftwo\r\n".encode("utf-16-le")),
        ("\ufeffone\n".encode("utf-16-be"), "\ufefftwo\n".encode("utf-16-be")),
        (b"one\nmixed\r\nlast", b"two\nmixed\r\nlast"),
        ("one é\u2028".encode(), "two é\u2028".encode()),
    ],
)
def test_encoding_mark_and_line_ends_stay(at: Desk, before: bytes, after: bytes) -> None:
    path = _known(at, "a.txt", before)
    assert not at.run(Edit(), file_path=path, old_string="one", new_string="two").is_error
    assert Path(path).read_bytes() == after


def test_new_lines_end_like_those_around_them(at: Desk) -> None:
    path = _known(at, "a.txt", b"a\r\nb\r\nc\nd\n")
    at.run(Edit(), file_path=path, old_string="a\nb", new_string="a\nnew\nb")
    at.run(Edit(), file_path=path, old_string="c\nd", new_string="c\nnew\nd")
    assert Path(path).read_bytes() == b"a\r\nnew\r\nb\r\nc\nnew\nd\n"


def test_a_file_written_anew_keeps_its_line_ends(at: Desk) -> None:
    path = _known(at, "a.txt", b"\xef\xbb\xbfa\r\nb\r\n")
    at.run(Write(), file_path=path, content="x\ny\n")
    assert Path(path).read_bytes() == b"\xef\xbb\xbfx\r\ny\r\n"
    assert not at.run(Edit(), file_path=path, old_string="x", new_string="z").is_error


_PIECES = st.lists(st.sampled_from(["a", "b", "é", "\n", "\r\n", "\r", " "]), max_size=12).map("".join)


@given(_PIECES, _PIECES, _PIECES, st.sampled_from(["X", "X\nY", ""]))
def test_an_edit_changes_nothing_around_it(
    tmp_path_factory: pytest.TempPathFactory, before: str, piece: str, after: str, new: str
) -> None:
    """All bytes but those of the piece are the same, whatever line ends there are."""
    if before.endswith("\r") or piece.endswith("\r"):
        return  # the piece would begin or end inside a line end
    at = desk(tmp_path_factory.mktemp("e"))
    path = _known(at, "a.txt", f"{before}<{piece}>{after}")
    old = f"<{piece}>".replace("\r\n", "\n")
    assert not at.run(Edit(), file_path=path, old_string=old, new_string=f"[{new}]").is_error
    data = Path(path).read_bytes()
    assert data.startswith(before.encode() + b"[")
    assert data.endswith(b"]" + after.encode())
    inside = data[len(before.encode()) + 1 : len(data) - len(after.encode()) - 1].decode()
    assert inside.replace("\r\n", "\n") == new


def test_a_piece_must_be_there_once(at: Desk) -> None:
    path = _known(at, "a.txt", "same\nmid\nsame\n")
    several = at.run(Edit(), file_path=path, old_string="same", new_string="x")
    assert "Found 2 matches of the string to replace, but replace_all is false" in words(several)
    assert "String to replace not found in file.\nString: nope" in words(
        at.run(Edit(), file_path=path, old_string="nope", new_string="x")
    )
    assert "exactly the same" in words(at.run(Edit(), file_path=path, old_string="mid", new_string="mid"))
    assert Path(path).read_text() == "same\nmid\nsame\n"
    done = at.run(Edit(), file_path=path, old_string="same", new_string="x", replace_all=True)
    assert "All occurrences were successfully replaced." in words(done)
    assert Path(path).read_text() == "x\nmid\nx\n"


def test_quotation_marks_may_be_straight_where_the_text_has_curly_ones(at: Desk) -> None:
    path = _known(at, "a.txt", "say “hi” it’s\n")
    outcome = at.run(Edit(), file_path=path, old_string='say "hi" it\'s', new_string='say "ho" it\'s')
    assert Path(path).read_text() == "say “ho” it’s\n"
    assert structured(outcome)["oldString"] == "say “hi” it’s"


def test_an_empty_piece_makes_a_new_file(at: Desk) -> None:
    path = str(at.folder / "new.txt")
    outcome = at.run(Edit(), file_path=path, old_string="", new_string="made\n")
    assert Path(path).read_text() == "made\n"
    assert structured(outcome)["structuredPatch"] == [
        {"oldStart": 1, "oldLines": 0, "newStart": 1, "newLines": 1, "lines": ["+made"]}
    ]
    again = at.run(Edit(), file_path=path, old_string="", new_string="x")
    assert "Cannot create new file - file already exists." in words(again)


def test_results_are_read_by_the_views(at: Desk) -> None:
    path = _known(at, "a.txt", "1\n2\n3\n4\n5\n6\n7\n8\n")
    edit = views.Edit(structured(at.run(Edit(), file_path=path, old_string="5\n", new_string="five\nmore\n")))
    assert (edit.path, edit.old, edit.new, edit.replace_all, edit.user_modified) == (
        path, "5\n", "five\nmore\n", False, False,
    )  # fmt: skip
    assert edit.original == "1\n2\n3\n4\n5\n6\n7\n8\n"
    hunk = edit.hunks[0]
    assert (hunk.old_start, hunk.old_lines, hunk.new_start, hunk.new_lines) == (2, 7, 2, 8)
    assert (hunk.added, hunk.removed) == (2, 1)
    many = views.MultiEdit(
        structured(
            at.run(
                MultiEdit(),
                file_path=path,
                edits=[{"old_string": "1", "new_string": "uno"}, {"old_string": "uno", "new_string": "eins"}],
            )
        )
    )
    assert many.edits == (("1", "uno"), ("uno", "eins"))
    assert many.original is not None
    assert many.hunks[0].lines[:2] == ("-1", "+eins")
    write = views.Write(structured(at.run(Write(), file_path=path, content="x")))
    assert (write.action, write.content) == ("update", "x")
    assert write.hunks[0].lines[-2:] == ("+x", "\\ No newline at end of file")


def test_several_edits_are_made_or_none(at: Desk) -> None:
    path = _known(at, "a.txt", "one\ntwo\n")
    outcome = at.run(
        MultiEdit(),
        file_path=path,
        edits=[{"old_string": "one", "new_string": "1"}, {"old_string": "three", "new_string": "3"}],
    )
    assert "not found in file.\nString: three" in words(outcome)
    assert Path(path).read_text() == "one\ntwo\n"
    done = at.run(
        MultiEdit(),
        file_path=path,
        edits=[{"old_string": "one", "new_string": "1"}, {"old_string": "two", "new_string": "2"}],
    )
    assert (
        words(done) == f'Applied 2 edits to {path}:\n1. Replaced "one" with "1"\n2. Replaced "two" with "2"'
    )
    assert Path(path).read_text() == "1\n2\n"


def test_several_edits_can_make_a_new_file(at: Desk) -> None:
    path = str(at.folder / "new.txt")
    at.run(
        MultiEdit(),
        file_path=path,
        edits=[
            {"old_string": "", "new_string": "XX"},
            {"old_string": "X", "new_string": "Y", "replace_all": True},
        ],
    )
    assert Path(path).read_text() == "YY"


@pytest.mark.parametrize("data", ["caf\u00e9".encode("latin-1"), b"a\0b", b"\xff\xfeodd"])
def test_what_could_not_be_put_back_is_not_changed(at: Desk, data: bytes) -> None:
    path = at.write("a.bin", data)
    at.seen.note(path, data, Path(path).stat())
    for tool, call in _calls(path):
        assert at.run(tool, **call).is_error
    assert Path(path).read_bytes() == data


def test_half_a_character_is_not_written(at: Desk) -> None:
    path = _known(at, "a.txt", "one\n")
    for outcome in (
        at.run(Write(), file_path=str(at.folder / "b.txt"), content="\ud800"),
        at.run(Edit(), file_path=path, old_string="one", new_string="\udfff"),
    ):
        assert "half a character" in words(outcome)
    assert Path(path).read_text() == "one\n"
    assert not (at.folder / "b.txt").exists()


def test_folders_notebooks_and_pipes_are_refused(at: Desk) -> None:
    os.mkfifo(at.folder / "pipe")
    notebook = at.write("a.ipynb", "{}")
    for path in (str(at.folder), str(at.folder / "pipe"), "/dev/null", f"{notebook}/x"):
        for tool, call in _calls(path):
            assert at.run(tool, **call).is_error
    assert "is a directory, not a file" in words(at.run(Write(), file_path=str(at.folder), content="x"))
    assert "Jupyter Notebook" in words(at.run(Edit(), file_path=notebook, old_string="{", new_string="["))


def test_mode_and_other_names_of_a_file_stay(at: Desk) -> None:
    script = _known(at, "run.sh", "one\n")
    Path(script).chmod(0o751)
    twin = at.folder / "twin.sh"
    at.run(Edit(), file_path=script, old_string="one", new_string="two")
    assert stat.S_IMODE(Path(script).stat().st_mode) == 0o751
    os.link(script, twin)
    at.run(Edit(), file_path=script, old_string="two", new_string="three and more")
    at.run(Edit(), file_path=script, old_string="three and more", new_string="4")
    assert twin.read_text() == "4\n"
    assert twin.stat().st_ino == Path(script).stat().st_ino


def test_a_new_file_has_the_usual_mode(at: Desk) -> None:
    old = os.umask(0o027)
    try:
        at.run(Write(), file_path=str(at.folder / "a.txt"), content="x")
    finally:
        os.umask(old)
    assert stat.S_IMODE((at.folder / "a.txt").stat().st_mode) == 0o640


def test_a_file_that_may_not_be_written_is_told(at: Desk) -> None:
    if os.geteuid() == 0:
        pytest.skip("root reads everything")
    path = _known(at, "a.txt", "one\n")
    Path(path).chmod(0o400)
    for tool, call in _calls(path):
        assert "EACCES" in words(at.run(tool, **call))


def test_a_link_is_written_through_to_what_it_leads_to(at: Desk) -> None:
    path = at.write("real.txt", "one\n")
    link = at.folder / "link.txt"
    link.symlink_to("real.txt")
    work = at.work()
    assert Edit().reach({"file_path": str(link)}, work).writes == (path,)
    at.run(Read(), file_path=str(link))
    assert not at.run(Edit(), file_path=str(link), old_string="one", new_string="two").is_error
    assert link.is_symlink()
    assert Path(path).read_text() == "two\n"
    assert at.changed == [path]


@pytest.mark.parametrize("kind", range(3))
def test_a_link_put_there_after_the_question_is_not_written_through(at: Desk, kind: int) -> None:
    """The permission was for the file in the project; the link leads out of it."""
    outside = at.write("outside/a.txt", "one\n")
    at.run(Read(), file_path=outside)
    path = _known(at, "project/a.txt", "one\n")
    tool, call = _calls(path)[kind]
    work = at.work()
    assert tool.reach(call, work).writes == (path,)
    Path(path).unlink()
    Path(path).symlink_to(outside)
    assert tool.run(call, work).is_error
    (at.folder / "project/a.txt").unlink()
    (at.folder / "project").rmdir()
    (at.folder / "project").symlink_to("outside")
    again = at.work()
    fresh, given_again = _calls(path)[kind]
    assert fresh.reach(given_again, again).writes == (outside,)
    (at.folder / "project").unlink()
    (at.folder / "project").mkdir()
    (at.folder / "project/a.txt").write_text("one\n")
    fresh.run(given_again, again)
    assert (at.folder / "project/a.txt").read_text() == "one\n"


def test_a_folder_that_became_a_link_is_not_written_into(at: Desk) -> None:
    (at.folder / "project").mkdir()
    (at.folder / "outside").mkdir()
    path = str(at.folder / "project/new/a.txt")
    work = at.work()
    tool = Write()
    tool.reach({"file_path": path, "content": "x"}, work)
    (at.folder / "project/new").symlink_to(at.folder / "outside")
    assert tool.run({"file_path": path, "content": "x"}, work).is_error
    assert list((at.folder / "outside").iterdir()) == []


def _elsewhere(path: Path) -> Callable[[str], None]:
    """Let somebody else write a file just before it is written."""

    def write(_: str) -> None:
        path.write_text("somebody else's")

    return write


def test_a_file_that_appears_meanwhile_is_not_written_over(at: Desk) -> None:
    path = at.folder / "a.txt"
    work = at.work()
    work.before_change = _elsewhere(path)
    outcome = Write().run({"file_path": str(path), "content": "mine"}, work)
    assert "modified since read" in words(outcome)
    assert path.read_text() == "somebody else's"
    assert [one.name for one in at.folder.iterdir()] == ["a.txt"]


def test_a_file_that_is_replaced_meanwhile_is_not_written_over(at: Desk) -> None:
    path = Path(_known(at, "a.txt", "one\n"))
    for tool, call in _calls(str(path)):
        work = at.work()
        work.before_change = _elsewhere(path)
        assert "modified since read" in words(tool.run(call, work))
        assert path.read_text() == "somebody else's"
        path.write_text("one\n")


def test_a_write_that_breaks_off_leaves_the_file_and_nothing_beside_it(
    at: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = Path(_known(at, "a.txt", "one\n"))

    def full(descriptor: int, data: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(replacing.os, "write", full)
    for tool, call in [*_calls(str(path)), (Write(), {"file_path": str(at.folder / "b"), "content": "x"})]:
        assert "ENOSPC" in words(at.run(tool, **call))
    monkeypatch.undo()
    assert path.read_text() == "one\n"
    assert [one.name for one in at.folder.iterdir()] == ["a.txt"]


def test_where_files_have_no_second_names_new_ones_are_made_all_the_same(
    at: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_links(*_: object, **__: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(replacing.os, "link", no_links)
    assert not at.run(Write(), file_path=str(at.folder / "a.txt"), content="x").is_error
    assert [one.name for one in at.folder.iterdir()] == ["a.txt"]


def test_after_a_wish_to_stop_nothing_is_written(at: Desk) -> None:
    path = _known(at, "a.txt", "one\n")
    at.cancel.ask()
    for tool, call in _calls(path):
        with pytest.raises(CancelledError):
            at.run(tool, **call)
    assert Path(path).read_text() == "one\n"
    assert at.changed == []
