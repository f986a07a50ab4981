"""Laws of redaction, over recorded and made sessions: nothing but secrets changes."""

from __future__ import annotations

import json
import re
from random import Random
from typing import TYPE_CHECKING, Any, cast

import pytest

from clew.edit.known_secrets import Secrets
from clew.edit.redact import gather, redact
from clew.session.context import context
from clew.session.session import Session
from tests.conformance.generator import generate
from tests.edit import laws
from tests.edit.redactions import KEY, MARK, each_kind, edit, written
from tests.edit.secrets_planted import FORMS, KINDS, PLACES, Kind, plant

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("path", laws.corpus()[::7], ids=lambda path: path.stem[:40])
def test_where_there_is_none_nothing_changes(path: Path) -> None:
    data = path.read_bytes()
    changes = redact(Session.read(data), key=KEY)
    assert not changes.places
    assert laws.check_bytes(data, changes) == data


def sown(data: bytes, seed: int) -> tuple[bytes, list[str]]:
    """Plant secrets at random in the texts of any session."""
    random = Random(seed)
    secrets: list[str] = []

    def grown(value: Any, name: str = "") -> Any:
        if isinstance(value, dict):
            known = cast("dict[str, Any]", value)
            return {key: grown(inner, key) for key, inner in known.items()}
        if isinstance(value, list):
            return [grown(one, name) for one in cast("list[Any]", value)]
        if (
            isinstance(value, str)
            and name in {"text", "content", "thinking", "stdout"}
            and random.random() < 0.2
        ):
            kind = random.choice([kind for kind in KINDS if not kind.lines])
            secrets.append(kind.make(random))
            return f"{value} {kind.telling.format(secrets[-1])} {value}"
        return value

    lines: list[bytes] = []
    for line in data.split(b"\n"):
        try:
            record = json.loads(line)
        except ValueError:
            lines.append(line)
        else:
            lines.append(json.dumps(grown(record), separators=(",", ":")).encode())
    return b"\n".join(lines), secrets


@pytest.mark.parametrize("seed", range(60))
def test_a_session_that_could_be_resumed_still_can(seed: int) -> None:
    data, secrets = sown(generate(seed).data, seed)
    edited = laws.check_laws(data, edit)
    for secret in secrets:
        assert secret.encode() not in edited.data
    before, after = context(edited.before), context(edited.after)
    if before.refused is None:
        compare_sent(before.messages, after.messages)


def compare_sent(before: Any, after: Any) -> None:
    """Check that what is sent differs in secrets alone, and in thinking that held one."""
    said = [one for one in laws.sent(before) if one.kind != "thinking"]
    now = [one for one in laws.sent(after) if one.kind != "thinking"]
    assert [(one.role, one.kind) for one in said] == [(one.role, one.kind) for one in now]
    for one, other in zip(said, now, strict=True):
        if one != other:
            around = [re.escape(part) for part in MARK.split(other.value)[::3]]
            assert re.fullmatch("(.+?)".join(around), one.value, re.DOTALL), (one, other)
    thoughts = [one for one in laws.sent(before) if one.kind == "thinking"]
    assert laws.is_within([one for one in laws.sent(after) if one.kind == "thinking"], thoughts)


@each_kind
def test_what_was_seen_while_secrets_were_gathered_changes_nothing(kind: Kind) -> None:
    random = Random(f"seen {kind.name}")
    secret = kind.make(random)
    words = kind.telling.format(secret)
    texts = {place: form(words, secret) for place, form in zip(PLACES, FORMS.values(), strict=False)}
    session = Session.read(plant({"prompt string": words, **texts}).data)
    known = gather(session)
    assert any(known.sights[session])
    again = Secrets(dict(known.values))
    again.seen = known.seen
    assert written(redact(session, key=KEY, known=known)) == written(redact(session, key=KEY, known=again))
