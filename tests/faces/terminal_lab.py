"""A terminal, a clock and a screen for the tests of what goes out."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from hypothesis import strategies as st

from clew.faces.cli.terminal import Screen

if TYPE_CHECKING:
    from clew.faces.cli.terminal import ColorChoice

any_text = st.text(alphabet=st.characters())  # surrogates included

spiteful = st.text(
    alphabet=st.one_of(
        st.sampled_from(
            "\x1b[]\x07\r\n\t\x9b\u202e\u2066\u200b\u200c\u200d\ufe0f\ufe00\U000e0101\U000e0041a1 ❤👩🏽中ميक्"
        ),
        st.characters(categories=["Cc", "Cf", "Cs", "Zl", "Zp", "Mn", "So"]),
    )
)


class Terminal(io.StringIO):
    """A stream that says it is a terminal and remembers what was written."""

    def __init__(self, *, tty: bool = True, encoding: str = "utf-8") -> None:
        super().__init__()
        self._tty = tty
        self._encoding = encoding

    @property
    def encoding(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride] - StringIO has None here
        return self._encoding

    def isatty(self) -> bool:
        return self._tty

    def write(self, text: str, /) -> int:
        text.encode(self._encoding)  # as a real stream would, strictly
        return super().write(text)


class Clock:
    """A clock the test sets."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def screen_on(
    *,
    tty: bool = True,
    encoding: str = "utf-8",
    color: ColorChoice = "auto",
    width: int | None = 80,
    **env: str,
) -> tuple[Screen, Terminal, Terminal, Clock]:
    out, err = Terminal(tty=tty, encoding=encoding), Terminal(tty=tty, encoding=encoding)
    clock = Clock()
    return Screen(out, err, color=color, width=width, env=env, clock=clock), out, err, clock
