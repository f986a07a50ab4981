"""Pictures are drawn only where the terminal says it can, and only from bytes that are pictures."""

from __future__ import annotations

import io
from base64 import b64encode
from typing import TYPE_CHECKING, Any

import pytest

from clew.faces.cli.pictures import protocol, sequence_of
from clew.faces.cli.reader import Choice, Reader
from clew.faces.cli.terminal import Screen
from clew.view.parts import Image, Prompt

if TYPE_CHECKING:
    from collections.abc import Mapping

PNG = b"\x89PNG\r\n\x1a\n" + bytes(5000)
KITTY = {"TERM": "xterm-kitty"}
ITERM = {"TERM": "xterm-256color", "TERM_PROGRAM": "iTerm.app"}


class _Stream(io.StringIO):
    encoding = "utf-8"

    def __init__(self, *, is_terminal: bool = True) -> None:
        super().__init__()
        self._is_terminal = is_terminal

    def isatty(self) -> bool:
        return self._is_terminal


def shown(data: str, env: Mapping[str, str], *, is_terminal: bool = True, images: bool = True) -> str:
    out = _Stream(is_terminal=is_terminal)
    screen = Screen(out, _Stream(), color="never", width=80, env=env)
    Reader(screen, Choice(images=images)).part(Prompt((Image("image/png", data=data),)))
    return out.getvalue()


def coded(data: bytes) -> str:
    return b64encode(data).decode()


@pytest.mark.parametrize(
    ("env", "expected"),
    [
        (KITTY, "kitty"),
        ({"TERM": "xterm-ghostty", "TERM_PROGRAM": "ghostty"}, "kitty"),
        (ITERM, "iterm2"),
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "WezTerm"}, "iterm2"),
        ({"TERM": "tmux-256color", "TERM_PROGRAM": "iTerm.app"}, None),
        ({"TERM": "xterm-kitty", "TMUX": "/x"}, None),
        ({"TERM": "xterm-256color"}, None),
        ({}, None),
    ],
)
def test_the_environment_says_what_the_terminal_can(env: dict[str, str], expected: str | None) -> None:
    assert protocol(env) == expected


def test_a_picture_is_drawn_where_it_was_asked_for_and_can_be() -> None:
    assert f"\x1b]1337;File=inline=1;size={len(PNG)};" in shown(coded(PNG), ITERM)
    kitty = shown(coded(PNG), KITTY)
    assert kitty.count("\x1b_G") == kitty.count("\x1b\\") == 2
    assert "\x1b_Ga=T,f=100,q=2,m=1;" in kitty


@pytest.mark.parametrize(
    "given",
    [
        {"images": False},
        {"is_terminal": False},
        {"env": {"TERM": "xterm-256color"}},
        {"data": coded(b"<svg onload=x>")},
        {"data": "\x1b]52;c;cm0=\x07"},
        {"data": coded(PNG)[:-3] + "\x1b[2"},
        {"data": coded(b"\xff\xd8\xff" + bytes(9))},
        {"data": ""},
        {"data": "😀"},
    ],
)
def test_everything_else_is_named(given: dict[str, Any]) -> None:
    asked: dict[str, Any] = {"data": coded(PNG), "env": KITTY, **given}
    out = shown(**asked)
    assert "\x1b" not in out
    assert "[image (png" in out


def test_a_picture_too_large_is_named() -> None:
    image = Image("image/png", data=coded(PNG), width=100_000, height=100_000)
    assert sequence_of(image, Screen(_Stream(), _Stream(), env=KITTY)) is None
