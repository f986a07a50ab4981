"""The list of a folder of pages."""

from __future__ import annotations

import base64
import hashlib
import re
from typing import TYPE_CHECKING
from urllib.parse import unquote

import pytest

from clew.export.html_index import totals, write_index
from clew.export.listed import Listed
from clew.view.parts import Head, Work
from tests.export.test_html import HOSTILE, Reading

if TYPE_CHECKING:
    from collections.abc import Sequence


def listed(name: str, title: str, work: Work | None = None, **more: object) -> Listed:
    head = Head("5e55", title, 3, work or Work(calls=8, failed=1, cost_usd=0.17), prices="2026-02-01")
    for field, value in more.items():
        head = _with(head, field, value)
    return Listed(name, head)


def _with(head: Head, field: str, value: object) -> Head:
    from msgspec.structs import replace

    return replace(head, **{field: value})


def page(sessions: Sequence[Listed]) -> str:
    return b"".join(write_index(sessions, version="1.2.3")).decode("utf-8")


MANY = (
    listed("one.html", "Fix double refund credit", project="/home/robin/shop", branch="main"),
    listed("two.html", "Damaged session", Work(calls=6, cost_usd=0.10), damaged=3, agents=2),
    listed("three.html", "Unpriced", Work(cost_usd=None)),
)


def test_every_session_has_its_row_in_the_order_given() -> None:
    source = page(MANY)
    assert re.findall(r'<a href="([^"]*)"', source) == ["./one.html", "./two.html", "./three.html"]
    assert source.count("<li>") == 3
    assert "! 3 damaged pieces" in source
    assert "✗ 1 failed" in source


def test_the_totals_add_up_and_name_what_is_not_in_them() -> None:
    assert totals(MANY) == (
        "3 sessions + 2 sub-agents · 9 turns · 14 calls, 1 failed · $0.27 (prices of 2026-02-01) · "
        "1 session without a price · 1 damaged"
    )


def test_no_sessions_is_a_sentence() -> None:
    assert "There are no sessions in this folder." in page(())


def test_the_policy_names_the_very_script_and_style() -> None:
    source = page(MANY)
    reading = Reading(source)
    for content in (reading.blocks[0][1], reading.styles[0]):
        assert base64.b64encode(hashlib.sha256(content.encode()).digest()).decode() in source
    assert len(reading.blocks) == 1


@pytest.mark.parametrize("said", HOSTILE)
def test_nothing_a_session_is_called_becomes_markup(said: str) -> None:
    many = (said, said)
    source = page([listed("a.html", said, project=said, branch=said, models=many, prices=said)])
    calm = page(
        [listed("a.html", "calm", project="calm", branch="calm", models=("calm", "calm"), prices="calm")]
    )
    assert Reading(source).names == Reading(calm).names
    assert not {sign for sign in source if ord(sign) < 32 or 127 <= ord(sign) < 160} - {"\n", "\t"}


@pytest.mark.parametrize(
    "name", ["javascript:alert(1).html", "//evil.example/x.html", "../x.html", "a b#?&\"'.html"]
)
def test_the_name_of_a_file_is_a_path_in_the_folder_and_nothing_else(name: str) -> None:
    found = re.search(r'<a href="([^"]*)"', page([listed(name, "t")]))
    assert found
    assert re.fullmatch(r"\./[A-Za-z0-9._~%-]+", found[1])
    assert unquote(found[1]) == f"./{name}"
