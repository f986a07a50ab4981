"""Secrets taken out of sessions: none left in any spelling, and nothing else changed."""

from __future__ import annotations

import base64
import json
import re
from random import Random
from typing import TYPE_CHECKING, Any, cast

import pytest

from clew.edit import side_texts
from clew.edit.known_secrets import Secrets
from clew.edit.redact import Redaction, gather, redact
from clew.edit.secret_forms import by_patterns
from clew.session.session import Session
from tests.builder import Builder, call, image, text, thinking
from tests.edit import laws
from tests.edit.redactions import KEY, MARK, each_kind, written
from tests.edit.secrets_planted import FORMS, KINDS, PLACES, SPLITS, Kind, Planted, cut, left, plant

if TYPE_CHECKING:
    from clew.edit.changes import Changes

BY_NAME = {kind.name: kind for kind in KINDS}
GITHUB = BY_NAME["github-token"]
PASSWORD = BY_NAME["password"]
PRIVATE = BY_NAME["private-key"]


def gather_text(data: bytes) -> Secrets:
    return side_texts.gather_text([data])


def redact_text(data: bytes, known: Secrets, key: bytes = KEY) -> bytes:
    return b"".join(side_texts.redact_text([data], known, key))


def redacted(planted: Planted) -> tuple[Redaction, bytes, bytes]:
    """Redact a session and the file beside it as the engine does: first all is gathered."""
    session = Session.read(planted.data)
    known = gather(session) | gather_text(planted.side)
    changes = redact(session, key=KEY, known=known)
    return changes, written(changes), redact_text(planted.side, known, KEY)


def records(data: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in data.splitlines()]


def check_structure(old: Any, new: Any, path: tuple[Any, ...] = ()) -> None:
    """Check that keys, types and order are as they were, and of strings only what was a secret differs."""
    assert type(old) is type(new), path
    if isinstance(old, dict):
        before, after = cast("dict[str, Any]", old), cast("dict[str, Any]", new)
        assert list(before) == list(after), path
        for name in before:
            check_structure(before[name], after[name], (*path, name))
    elif isinstance(old, list):
        items, others = cast("list[Any]", old), cast("list[Any]", new)
        items = [one for one in items if not is_void(one, others)]
        assert len(items) == len(others), path
        for at, (one, other) in enumerate(zip(items, others, strict=True)):
            check_structure(one, other, (*path, at))
    elif old != new:
        assert isinstance(old, str)
        assert MARK.search(new), path
        around = [re.escape(part) for part in MARK.split(new)[::3]]
        assert re.fullmatch("(.+?)".join(around), old, re.DOTALL), (path, old, new)


def is_void(block: Any, others: list[Any]) -> bool:
    return isinstance(block, dict) and cast("Any", block).get("type") == "thinking" and block not in others


def check_lines(old: bytes, new: bytes) -> None:
    """Check the structure of all lines; one that was nothing but thinking may be gone."""
    after = {json.dumps(one.get("uuid")): one for one in records(new) if "uuid" in one}
    gone: dict[str, str | None] = {}
    for one in records(old):
        if "uuid" not in one:
            continue
        other = after.get(json.dumps(one["uuid"]))
        if other is None:
            assert [block["type"] for block in one["message"]["content"]] == ["thinking"]
            gone[one["uuid"]] = one["parentUuid"]
            continue
        if one.get("parentUuid") in gone:
            one["parentUuid"] = gone[one["parentUuid"]]
        check_structure(one, other)
    before = [one for one in records(old) if "uuid" not in one]
    for one, other in zip(before, [one for one in records(new) if "uuid" not in one], strict=True):
        check_structure(one, other)


# Planted ------------------------------------------------------------------------------------------


def test_forty_kinds_are_planted_in_fifteen_places() -> None:
    assert len(KINDS) >= 40
    assert len(PLACES) == 15
    secrets = {kind.name: kind.make(Random(kind.name)) for kind in KINDS}
    assert len(set(secrets.values())) == len(KINDS)
    for kind in KINDS:
        for place in PLACES:
            words = kind.telling.format(secrets[kind.name])
            planted = plant({place: words})
            both = planted.data + planted.side
            assert left(both, kind, secrets[kind.name]), "the search must find what is planted"


@each_kind
def test_none_is_left_wherever_it_was_planted(kind: Kind) -> None:
    for seed, place in enumerate(PLACES):
        secret = kind.make(Random(f"{kind.name} {seed}"))
        planted = plant({place: kind.telling.format(secret)})
        changes, new, side = redacted(planted)
        assert not left(new, kind, secret), place
        assert not left(side, kind, secret), place
        check_lines(planted.data, new)
        if place != "side file":
            assert changes.places
            assert not changes.left


@each_kind
def test_a_copy_goes_too_where_nothing_tells_that_it_is_a_secret(kind: Kind) -> None:
    for told in ("prompt string", "tool result block", "side file"):
        secret = kind.make(Random(kind.name))
        texts = dict.fromkeys(PLACES, f"it was {secret} again") | {told: kind.telling.format(secret)}
        planted = plant(texts)
        _, new, side = redacted(planted)
        assert not left(new, kind, secret)
        assert not left(side, kind, secret)
        check_lines(planted.data, new)


@each_kind
def test_none_is_left_in_any_spelling(kind: Kind) -> None:
    for name, form in FORMS.items():
        secret = kind.make(Random(f"{kind.name} {name}"))
        words = form(kind.telling.format(secret), secret)
        planted = plant({"tool result string": words, "toolUseResult": words, "side file": words})
        _, new, side = redacted(planted)
        for data in (new, side):
            assert not left(data, kind, secret), name
            assert not unpacked(data, kind, secret), name
        check_lines(planted.data, new)
        if name.startswith("json"):
            json.loads(side)["note"]


def unpacked(data: bytes, kind: Kind, secret: str) -> bool:
    """Say whether base64 on several lines still holds a secret."""
    for one in re.findall(rb"[A-Za-z0-9+/\n=]{20,}", data.replace(b"\\\\n", b"\n").replace(b"\\n", b"\n")):
        joined = re.sub(rb"[\n=]", b"", one)
        for shift in range(4):
            body = joined[shift:]
            words = base64.b64decode(body[: len(body) // 4 * 4])
            if left(words, kind, secret):
                return True
    return False


@each_kind
def test_none_is_left_that_goes_on_in_the_next_line(kind: Kind) -> None:
    if kind.lines:
        return
    for name, joint in SPLITS.items():
        secret = kind.make(Random(f"{kind.name} {name}"))
        words = f'X="{cut(kind.telling.format(secret), secret, joint)}"\n'
        planted = plant({"tool result string": words, "tool input": words, "structuredPatch": words})
        _, new, _ = redacted(planted)
        half = len(secret) // 2
        for part in (secret[:half], secret[half:]):
            assert part.encode() not in new, (name, part)


@each_kind
def test_none_is_left_that_is_split_over_two_texts_of_a_message(kind: Kind) -> None:
    secret = kind.make(Random(kind.name))
    half = len(secret) // 2
    data = (
        Builder()
        .prompt(kind.telling.format(secret))
        .answer(text(f"first {secret[:half]}"), text(f"{secret[half:]} then"))
        .prompt([text(f"it was {secret[:half]}"), text(f"{secret[half:]} again")])
        .answer("fine")
        .data()
    )
    new = written(redact(Session.read(data), key=KEY))
    assert secret[:half].encode() not in new
    assert secret[half:].encode() not in new
    check_lines(data, new)


def test_a_key_on_the_lines_of_a_difference_goes_whole() -> None:
    secret = PRIVATE.make(Random(3))
    planted = plant({"structuredPatch": f"a\n{secret}\nb"})
    _, new, _ = redacted(planted)
    for line in secret.split("\n"):
        assert json.dumps(line)[1:-1].encode() not in new
    assert b'"+a"' in new
    assert b'"+b"' in new


def test_a_secret_told_by_its_key_goes() -> None:
    secret = PASSWORD.make(Random(4))
    given = {
        "headers": {"Authorization": f"Bearer {secret}{secret}"},
        "db": {"password": secret, "host": "h1"},
    }
    data = Builder().prompt("go").answer(call("c1", "Bash", given)).result("c1").data()
    new = written(redact(Session.read(data), key=KEY))
    assert secret.encode() not in new
    assert b'"host":"h1"' in new
    check_lines(data, new)


# Placeholders -------------------------------------------------------------------------------------


def marks(data: bytes) -> set[str]:
    return {match.group() for match in MARK.finditer(data.decode())}


def test_a_secret_has_the_same_placeholder_everywhere_in_a_run_and_another_in_the_next() -> None:
    secret = GITHUB.make(Random(1))
    forms = [form(secret, secret) for name, form in FORMS.items() if name != "base64 on lines"]
    data = Builder().prompt(f"{secret} and {secret}").answer("\n\n".join(forms)).data()
    new = marks(written(redact(Session.read(data), key=b"one")))
    assert len(new) == 1
    assert new == marks(written(redact(Session.read(data), key=b"one")))
    assert new != marks(written(redact(Session.read(data), key=b"two")))
    other = Builder().prompt(GITHUB.make(Random(2))).data()
    assert new != marks(written(redact(Session.read(other), key=b"one")))


def test_a_placeholder_names_the_rule() -> None:
    data = Builder().prompt(GITHUB.make(Random(1))).data()
    assert re.search(
        rb'"content":"\[redacted:github-token:[0-9a-f]{4}\]"', written(redact(Session.read(data), key=KEY))
    )


# What stays ---------------------------------------------------------------------------------------


def test_thinking_that_holds_a_secret_goes_whole_and_other_thinking_stays_as_it_is() -> None:
    secret = GITHUB.make(Random(1))
    data = (
        Builder()
        .prompt("go")
        .answer(thinking(f"with {secret}", "s1"), text("one"))
        .prompt("on")
        .answer(thinking("calm", secret), text("two"))
        .entry(
            "assistant",
            message={"role": "assistant", "content": [thinking(secret), text("three"), thinking("z", "s9")]},
        )
        .data()
    )
    changes = redact(Session.read(data), key=KEY)
    new = records(written(changes))
    blocks = [block for one in new if one["type"] == "assistant" for block in one["message"]["content"]]
    assert [block.get("thinking") for block in blocks if block["type"] == "thinking"] == ["calm", "z"]
    assert [block["signature"] for block in blocks if block["type"] == "thinking"] == [secret, "s9"]
    assert ("thinking", "github-token", 2) in changes.places


def test_thinking_in_a_copy_of_a_message_goes_too() -> None:
    secret = GITHUB.make(Random(1))
    copy = {"message": {"content": [thinking("calm"), thinking(secret), text("x"), thinking(f"{secret}!")]}}
    data = Builder().prompt("go").entry("progress", data={"message": copy}).data()
    new = records(written(redact(Session.read(data), key=KEY)))
    assert new[1]["data"]["message"]["message"]["content"] == [thinking("calm"), text("x")]


def test_ids_types_and_keys_stay_even_if_they_look_like_secrets() -> None:
    secret = GITHUB.make(Random(1))
    data = (
        Builder(secret)
        .prompt(secret, uuid=secret)
        .answer(call(secret, "Bash", {secret: 1, "type": secret}), message_id=secret)
        .result(secret, "ok")
        .data()
    )
    changes = redact(Session.read(data), key=KEY)
    new = records(written(changes))
    assert [one["uuid"] for one in new] == [secret, "u2", "u3"]
    assert new[1]["parentUuid"] == secret
    assert {one["sessionId"] for one in new} == {secret}
    assert new[1]["message"]["id"] == secret
    assert new[1]["message"]["content"][0]["id"] == secret
    assert list(new[1]["message"]["content"][0]["input"]) == [secret, "type"]
    assert MARK.fullmatch(new[1]["message"]["content"][0]["input"]["type"])
    assert MARK.fullmatch(new[0]["message"]["content"])
    assert changes.left


def test_one_that_is_only_a_key_is_told_of() -> None:
    secret = GITHUB.make(Random(2))
    data = Builder().answer(call("t1", "Bash", {"env": {secret: "x"}})).data()
    changes = redact(Session.read(data), key=KEY)
    assert changes.left == 1
    assert written(changes) == data


def test_a_password_that_is_short_or_a_word_is_taken_only_where_it_is_told() -> None:
    data = (
        Builder()
        .prompt(f"{'password'}=ab12cd and DB=postgres://root:{'postgres'}@localhost/x")
        .answer("ab12cd postgres postgres ab12cd")
        .data()
    )
    new = records(written(redact(Session.read(data), key=KEY)))
    assert new[1]["message"]["content"][0]["text"] == "ab12cd postgres postgres ab12cd"
    assert len(MARK.findall(new[0]["message"]["content"])) == 2


def test_pictures_stay_as_they_are() -> None:
    noise = base64.b64encode(Random(1).randbytes(60_000)).decode()
    picture = {
        **image(),
        "source": {"type": "base64", "media_type": "image/png", "data": f"iVBORw0KGgo{noise}"},
    }
    data = Builder().prompt([picture, text("look")]).answer("nice").data()
    assert not redact(Session.read(data), key=KEY)


def test_lines_that_are_no_records_are_cleaned_too() -> None:
    secret = GITHUB.make(Random(1))
    torn = json.dumps({"type": "user", "message": {"content": f"x {secret} y"}}).encode()[:-12]
    data = (
        Builder()
        .prompt("go")
        .raw(torn + b"\n")
        .raw(b"\xff\xfe what " + secret.encode() + b"\n")
        .answer("ok")
        .data()
    )
    session = Session.read(data)
    assert session.fragments
    changes = redact(session, key=KEY)
    new = written(changes)
    assert secret.encode() not in new
    assert re.sub(MARK.pattern.encode(), secret.encode(), new) == data
    assert any(place.place == "damaged line" for place in changes.places)
    assert not [
        step
        for step in redact(Session.read(new), key=KEY).plan("x").steps()
        if type(step[1]).__name__ != "Keep"
    ]


def test_other_bytes_of_a_changed_line_stay_as_they_are() -> None:
    secret = GITHUB.make(Random(1))
    line = (
        b'{ "type" : "user","uuid":"u1", "x":1e2,"x":1.50, "a":"\\u00e9\\ud800 \\/", "b":[ ],'
        b'"message":{"role":"user","content":"' + secret.encode() + b' \\u00e9"}  }'
    )
    new = written(redact(Session.read(line + b"\r\n"), key=KEY))
    mark = next(iter(marks(new)))
    assert new == line.replace(secret.encode() + b" \\u00e9", f"{mark} é".encode()) + b"\r\n"


# Side files ---------------------------------------------------------------------------------------


def test_a_side_file_that_holds_none_is_the_very_bytes_it_was() -> None:
    for data in (
        b"",
        b"\xff\xfe\x00",
        b'{ "a" : [1, "x"] }\n',
        bytes(range(256)),
        "grüße\r\n".encode("utf-16"),
    ):
        assert redact_text(data, Secrets(), KEY) == data


def test_a_side_file_keeps_its_form() -> None:
    secret = GITHUB.make(Random(1))
    known = gather_text(secret.encode())
    data = f'{{ "description" : "x {secret}", "n": [1.0, "{secret}"] }}'.encode()
    new = redact_text(data, known, KEY)
    assert [*json.loads(new)] == ["description", "n"]
    assert re.sub(MARK.pattern.encode(), secret.encode(), new) == data
    wide = f"a {secret}\r\n".encode("utf-16")
    assert MARK.search(redact_text(wide, known, KEY).decode("utf-16"))
    odd = b"\xfe\x80 " + secret.encode() + b" \xff"
    assert redact_text(odd, known, KEY).startswith(b"\xfe\x80 [redacted:github-token:")


# A person's own patterns --------------------------------------------------------------------------


def test_a_pattern_of_a_person_is_taken_out_and_looked_for_everywhere() -> None:
    pattern = re.compile(r"ticket (?P<secret>LH-\d+-[a-z]+)")
    data = (
        Builder().prompt("see ticket LH-4711-harbour").answer("LH-4711-harbour is done; LH-1 is not").data()
    )
    changes = redact(Session.read(data), key=KEY, own=by_patterns([pattern]))
    new = records(written(changes))
    assert re.fullmatch(r"see ticket \[redacted:pattern:....\]", new[0]["message"]["content"])
    assert re.fullmatch(
        r"\[redacted:pattern:....\] is done; LH-1 is not", new[1]["message"]["content"][0]["text"]
    )


@pytest.mark.parametrize("pattern", [r".", r"\w+", r"[a-z]*", r"^.*$", r"redacted", r"(?s).*"])
def test_whatever_the_pattern_doing_it_twice_is_doing_it_once(pattern: str) -> None:
    data = Builder().prompt("see ticket\nLH-4711").answer("ok, done").data()

    def with_pattern(session: Session) -> Changes:
        return redact(session, key=KEY, own=by_patterns([re.compile(pattern)]))

    laws.check_twice(written(with_pattern(Session.read(data))), with_pattern)
