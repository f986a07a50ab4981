"""What a client would send: the version asked for, and whether all is sound."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from clew.actions.contexts import context_document, read_context
from clew.actions.reading import open_reading
from clew.errors import UsageError
from clew.session.eras import MEASURED
from tests.builder import Builder, call, text
from tests.faces.stage import write

if TYPE_CHECKING:
    from pathlib import Path

    from clew.actions.reading import Opened

ID = "0a0a0a0a-0000-4000-8000-000000000001"


def opened(root: Path, data: bytes) -> Opened:
    write(root, "-p", {ID: data})
    return open_reading([root], ID)


@pytest.mark.parametrize("version", [era.version for era in MEASURED])
def test_a_measured_client_stands_for_itself(tmp_path: Path, version: str) -> None:
    resumed = read_context(opened(tmp_path, Builder(ID).user("Hi").answer("Yes.").data()), client=version)
    assert resumed.context.client == version
    assert resumed.asked_client is None
    assert "asked_client" not in context_document(resumed)


@pytest.mark.parametrize("client", ["", "two", "2.1.x", "2..1", "-1", "2.1.325\n"])
def test_what_is_no_version_is_refused(tmp_path: Path, client: str) -> None:
    with pytest.raises(UsageError):
        read_context(opened(tmp_path, Builder(ID).user("Hi").data()), client=client)


def test_sound_is_resumed_accepted_and_undamaged(tmp_path: Path) -> None:
    good = Builder(ID).user("Hi").answer("Yes.")
    assert read_context(opened(tmp_path, good.data())).is_sound
    assert not read_context(opened(tmp_path, good.raw(b"x\n").data())).is_sound
    assert not read_context(opened(tmp_path, b"")).is_sound
    half = Builder(ID).user([text("\ud83d")]).answer("Yes.")
    assert not read_context(opened(tmp_path, half.data())).is_sound


def test_thinking_without_words_is_doubtful_and_no_error(tmp_path: Path) -> None:
    builder = Builder(ID).user("Hi")
    builder.answer({"type": "thinking", "thinking": "", "signature": "s"}, "Yes.")
    resumed = read_context(opened(tmp_path, builder.data()))
    assert [found.code for found in resumed.context.api_problems] == ["empty-thinking"]
    assert resumed.errors == ()
    assert resumed.is_sound


def test_a_call_cut_off_by_the_end_is_sound_for_the_client_that_closes_it(tmp_path: Path) -> None:
    data = Builder(ID).user("Hi").answer(call("t1"), stop="tool_use").data()
    assert read_context(opened(tmp_path, data)).is_sound
