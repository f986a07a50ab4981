"""Nothing that is a secret leaves for the lake, and nothing else is lost for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clew.lake.asking import ask_here
from clew.lake.delta import LakeTable
from clew.lake.places import Place
from clew.lake.schemas import COLUMNS
from clew.tables.schema import TABLES
from tests.builder import Builder, call
from tests.edit.secrets_planted import sow
from tests.lake.lab import KEY, built, put, rows

if TYPE_CHECKING:
    from pathlib import Path

TOKEN = "ghp_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"
BARE = "q9Zr7" + "Tn2Lw8Vx4"


def all_cells(lake: Path) -> str:
    """Every text there is in any table of a lake, the hidden ones too, at every version."""
    found: list[str] = []
    for name in COLUMNS:
        table = LakeTable(Place.parse(str(lake)), name)
        for row in table.dataset().to_table().to_pylist():
            found += [value for value in row.values() if isinstance(value, str)]
    return "\n".join(found)


def test_no_planted_secret_is_in_any_cell(tmp_path: Path) -> None:
    sown = sow(tmp_path / "source" / "ada", "lake")
    report = built(tmp_path / "source", tmp_path / "lake", key=KEY)
    assert report.secrets >= len(sown) / 2
    text = all_cells(tmp_path / "lake")
    assert "[redacted:" in text
    for one in sown:
        for line in one.secret.splitlines() if one.kind.lines else [one.secret]:
            assert line not in text or len(line) < 16, one.kind.name


def telling(prompt: str) -> bytes:
    made = Builder("s1").user(prompt)
    made.answer(call("c1", "Bash", {"command": f"export API_TOKEN={BARE}"}), message_id="msg_1")
    made.result("c1").answer("Done.", message_id="msg_2")
    return made.data()


def test_what_is_told_in_one_place_goes_everywhere_and_places_in_the_file_stay(tmp_path: Path) -> None:
    put(tmp_path / "source" / "ada", "s1", telling(f"Use {BARE} there"))
    built(tmp_path / "source", tmp_path / "plain")
    built(tmp_path / "source", tmp_path / "clean", key=KEY)
    assert BARE in all_cells(tmp_path / "plain")
    assert BARE not in all_cells(tmp_path / "clean")
    for table in TABLES:
        if table not in {"sessions", "turns"}:
            assert rows(tmp_path / "plain", table) == rows(tmp_path / "clean", table), table
    counts = "bytes, lines, turns, messages, output_tokens, cost_usd"
    query = f"SELECT {counts}, title LIKE '%redacted:%' FROM sessions"
    plain, clean = (ask_here(Place.parse(str(tmp_path / name)), query).rows[0] for name in ("plain", "clean"))
    assert plain[:-1] == clean[:-1]
    assert (plain[-1], clean[-1]) == (False, True)


def test_a_cell_that_ends_within_a_secret_does_not_show_its_beginning(tmp_path: Path) -> None:
    # A prompt is kept up to 2400 characters, a title up to 300.
    for number, length in enumerate((280, 2380, 2396)):
        words = ("word " * 1000)[:length] + TOKEN
        put(tmp_path / "source" / "ada", f"s{number}", telling(words))
    built(tmp_path / "source", tmp_path / "lake", key=KEY)
    assert TOKEN[:10] not in all_cells(tmp_path / "lake")


def test_the_same_secret_has_the_same_placeholder_for_every_developer(tmp_path: Path) -> None:
    for name in ("ada", "ben"):
        put(tmp_path / "source" / name, "s1", telling(f"Use {TOKEN} there"))
    built(tmp_path / "source", tmp_path / "lake", key=KEY)
    found = ask_here(Place.parse(str(tmp_path / "lake")), "SELECT DISTINCT prompt FROM turns")
    assert len(found.rows) == 1
