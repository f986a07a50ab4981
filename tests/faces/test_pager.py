"""What is longer than the screen goes to the person's pager; what is not is written as it is."""

from __future__ import annotations

import io
import sys
from typing import TYPE_CHECKING

import pytest

from clew.faces.cli.pager import arguments, command_of, paged
from clew.faces.cli.terminal import Screen

if TYPE_CHECKING:
    from pathlib import Path


class _Terminal(io.StringIO):
    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


def screen(env: dict[str, str], *, lines: int = 10) -> tuple[Screen, _Terminal]:
    out = _Terminal()
    around = {"LINES": str(lines), "PATH": "/usr/bin:/bin", **env}
    return Screen(out, _Terminal(), color="never", width=60, env=around), out


def pager(folder: Path, *, reads: str = "sys.stdin.read()") -> tuple[str, Path]:
    """A pager that keeps what it is given."""
    kept = folder / "kept"
    script = folder / "pager.py"
    script.write_text(
        f"import os, sys\nopen({str(kept)!r}, 'w').write({reads} + '|' + os.environ.get('LESSSECURE', ''))\n"
    )
    return f"{sys.executable} {script}", kept


def write(where: Screen, count: int) -> None:
    for number in range(count):
        where.print(f"line {number}")


def test_a_short_text_is_written_as_it_is(tmp_path: Path) -> None:
    command, kept = pager(tmp_path)
    place, out = screen({"PAGER": command})
    with paged(place, wanted=True) as where:
        write(where, 9)
    assert out.getvalue().splitlines() == [f"line {n}" for n in range(9)]
    assert not kept.exists()


def test_a_long_text_goes_to_the_pager_and_nowhere_else(tmp_path: Path) -> None:
    command, kept = pager(tmp_path)
    place, out = screen({"PAGER": command})
    with paged(place, wanted=True) as where:
        assert where.is_terminal
        assert where.width == 60
        write(where, 50)
    assert out.getvalue() == ""
    assert kept.read_text() == "".join(f"line {n}\n" for n in range(50)) + "|"


def test_a_pager_that_is_left_early_ends_it_quietly(tmp_path: Path) -> None:
    command, kept = pager(tmp_path, reads="sys.stdin.readline()")
    place, _ = screen({"PAGER": command})
    with paged(place, wanted=True) as where:
        write(where, 200_000)
    assert kept.read_text() == "line 0\n|"


def test_without_a_person_or_on_request_there_is_no_pager(tmp_path: Path) -> None:
    command, kept = pager(tmp_path)
    place, out = screen({"PAGER": command})
    with paged(place, wanted=False) as where:
        write(where, 50)
    piped = io.StringIO()
    with paged(Screen(piped, piped, env={"PAGER": command, "LINES": "10"}), wanted=True) as where:  # type: ignore[arg-type]
        write(where, 50)
    assert len(out.getvalue().splitlines()) == len(piped.getvalue().splitlines()) == 50
    assert not kept.exists()


@pytest.mark.parametrize("asked", ["", "cat", "'unclosed"])
def test_a_pager_that_is_none_means_none(asked: str) -> None:
    assert command_of({"PAGER": asked}) is None


def test_a_pager_that_cannot_be_started_loses_nothing(tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    broken.write_text("no program\n")
    broken.chmod(0o755)
    for name in (str(broken), "no-such-pager-anywhere"):
        place, out = screen({"PAGER": name})
        with paged(place, wanted=True) as where:
            write(where, 50)
        assert len(out.getvalue().splitlines()) == 50


def test_less_runs_in_its_secure_mode_and_goes_from_turn_to_turn() -> None:
    whole, env = arguments(["less"], {"LESS": "i"}, "^x")
    assert whole == ["less", "-R", "-g", "+/^x\ng"]
    assert (env["LESSSECURE"], env["LESS"]) == ("1", "i")
    assert arguments(["less"], {}, None)[0] == ["less", "-R"]
    assert arguments(["most"], {}, "^x") == (["most"], {})
