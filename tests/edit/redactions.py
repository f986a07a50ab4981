"""What the tests of redaction share: a key, its placeholders, and how it is done."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from clew.edit.redact import redact
from tests.edit.secrets_planted import KINDS

if TYPE_CHECKING:
    from clew.edit.changes import Changes
    from clew.session.session import Session

KEY = b"a key of the run"
MARK = re.compile(r"\[redacted:([a-z0-9-]+):([0-9a-f]{4})\]")
each_kind = pytest.mark.parametrize("kind", KINDS, ids=[kind.name for kind in KINDS])


def edit(session: Session) -> Changes:
    return redact(session, key=KEY)


def written(changes: Changes) -> bytes:
    return b"".join(changes.plan("new.jsonl").pieces())
