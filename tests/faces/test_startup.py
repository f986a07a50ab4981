"""What is imported before anything is asked for: little, so that clew answers at once."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = {"click", "rich", "msgspec", "orjson", "pyarrow", "starlette", "anthropic", "asyncio", "hypothesis"}


def imported(code: str) -> set[str]:
    program = f"import sys\n{code}\nprint(*sys.modules, sep='\\n', file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return {name.partition(".")[0] for name in done.stderr.split()} | set(done.stderr.split())


@pytest.mark.parametrize(
    "code",
    [
        "import clew",
        "import clew.faces.hook",
        "sys.argv = ['clew', '--help']; import clew.__main__; clew.__main__.main()",
        "sys.argv = ['clew', '--version']; import clew.__main__; clew.__main__.main()",
    ],
)
def test_starting_imports_nothing_heavy(code: str) -> None:
    assert imported(code) & HEAVY == set()


def test_the_hook_needs_the_standard_library_alone() -> None:
    found = imported("import clew.faces.hook") - imported("pass")
    top = {name.partition(".")[0] for name in found}
    assert top - set(sys.stdlib_module_names) == {"clew"}


def test_running_a_command_would_be_noticed_here() -> None:
    """The check can fail: a command does import click."""
    assert "click" in imported("import clew.faces.cli.main")
