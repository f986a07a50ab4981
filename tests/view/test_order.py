"""A sub-agent's file whose beginning stands behind its end is drawn like the one in order."""

from __future__ import annotations

from clew.session.session import Session
from clew.session.turns import turns
from clew.view.encoding import encode
from clew.view.timeline import Timeline
from tests.session.moved import moved, told_files


def _drawn(data: bytes) -> list[bytes]:
    session = Session.read(data, name="s")
    timeline = Timeline(session, turns(session))
    found = [encode(timeline.head())]
    for view in timeline.turns():
        found.append(encode(view.head))
        found += map(encode, view.flow())
    return found


def test_moved_recorded_files_have_the_parts_and_heads_of_the_ordered_ones() -> None:
    tried = 0
    for path in told_files():
        data = path.read_bytes()
        whole = _drawn(data)
        for other in moved(data, step=2):
            assert _drawn(other) == whole, path
            tried += 1
    assert tried > 150
