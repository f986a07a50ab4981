"""Parts become JSON whatever they hold."""

from __future__ import annotations

import json

from clew.view import parts
from clew.view.encoding import encode


def test_kind_tells_the_part_and_defaults_are_left_out() -> None:
    assert json.loads(encode(parts.Answer((parts.Markdown("Hi"),)))) == {
        "kind": "answer",
        "parts": [{"kind": "markdown", "text": "Hi"}],
    }


def test_half_of_a_pair_becomes_a_mark_that_every_reader_takes() -> None:
    said = parts.Prompt((parts.Text("half \ud800 a pair"), parts.Table((("a\udfff", "b"),))))
    inner = json.loads(encode(said).decode("utf-8"))["parts"]
    assert inner == [
        {"kind": "text", "text": "half \ufffd a pair"},
        {"kind": "table", "rows": [["a\ufffd", "b"]]},
    ]


def test_a_number_beyond_what_machines_hold_stays_a_number() -> None:
    code = parts.Code("x", first_line=10**30)
    assert json.loads(encode(code))["first_line"] == 10**30
