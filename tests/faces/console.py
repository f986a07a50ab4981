"""Runs the command line as a person would: a terminal of some width, or a pipe."""

from __future__ import annotations

import io
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from clew.faces.cli.main import run

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pytest


class _Stream(io.StringIO):
    def __init__(self, *, is_terminal: bool) -> None:
        super().__init__()
        self._is_terminal = is_terminal

    encoding = "utf-8"

    def isatty(self) -> bool:
        return self._is_terminal


@dataclass(frozen=True, slots=True)
class Ran:
    """What a command did."""

    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[str]:
        return self.out.splitlines()


class Console:
    """Runs commands; `width` makes it a terminal."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self._patch = patch
        patch.setenv("TZ", "UTC")
        time.tzset()

    def __call__(self, *arguments: object, width: int | None = None, color: bool = False) -> Ran:
        out, err = _Stream(is_terminal=width is not None), _Stream(is_terminal=False)
        with self._patch.context() as patch:
            patch.setattr(sys, "stdout", out)
            patch.setattr(sys, "stderr", err)
            if width is not None:
                patch.setenv("COLUMNS", str(width))
            patch.setenv("PAGER", "cat")
            patch.setenv("CLEW_COLOR", "always" if color else "never")
            code = run([str(argument) for argument in arguments])
        return Ran(code, out.getvalue(), err.getvalue())


def console(patch: pytest.MonkeyPatch) -> Iterator[Console]:
    """Give a console, and put the time zone back afterwards."""
    with patch.context() as inner:
        yield Console(inner)
    time.tzset()
