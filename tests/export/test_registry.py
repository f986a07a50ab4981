"""Exporters are found by name, ours and those of others, and none is imported before it writes."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import EntryPoint, EntryPoints
from typing import TYPE_CHECKING

import pytest

from clew.errors import UsageError
from clew.export import registry
from clew.export.registry import Exporter

if TYPE_CHECKING:
    from collections.abc import Iterator

    from clew.export.options import Options
    from clew.export.story import Story


def _write(_story: Story, _options: Options) -> Iterator[bytes]:
    yield b"x"


THEIRS = Exporter("theirs", "a format of others", ".x", "text/x", _write)
NOTHING = object()


@pytest.fixture
def offered(monkeypatch: pytest.MonkeyPatch) -> None:
    points = [
        EntryPoint("theirs", f"{__name__}:THEIRS", registry.GROUP),
        EntryPoint("md", f"{__name__}:THEIRS", registry.GROUP),
        EntryPoint("odd", f"{__name__}:NOTHING", registry.GROUP),
        EntryPoint("broken", "no_such_module_at_all:x", registry.GROUP),
    ]
    monkeypatch.setitem(sys.modules, __name__, sys.modules[__name__])

    def entry_points(*, group: str) -> EntryPoints:
        return EntryPoints(points).select(group=group)

    monkeypatch.setattr("importlib.metadata.entry_points", entry_points)


@pytest.mark.usefixtures("offered")
def test_others_offer_formats_and_ours_go_before_theirs() -> None:
    assert registry.find("theirs") is THEIRS
    assert registry.find("md").media_type == "text/markdown"
    assert registry.names().count("md") == 1
    assert "theirs" in [one.name for one in registry.exporters()]


@pytest.mark.usefixtures("offered")
@pytest.mark.parametrize("name", ["odd", "broken", "nothing", "markdown"])
def test_what_is_no_exporter_is_an_error_that_says_why(name: str) -> None:
    with pytest.raises(UsageError):
        registry.find(name)
    assert name not in [one.name for one in registry.exporters()]


def test_names_are_there_once_and_each_has_its_line() -> None:
    every = [*registry.OWN, *registry.ELSEWHERE]
    assert len({one.name for one in every}) == len(every)
    assert all(one.help and "\n" not in one.help and not one.help.endswith(".") for one in every)
    assert {one.name for one in every if one.redacts} == {"html", "md", "bundle"}


def test_to_list_the_formats_imports_none_of_them() -> None:
    code = (
        "import sys; from clew.export.registry import names; names();"
        "print([m for m in sys.modules if m.startswith('clew.export.')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['clew.export.registry']"
