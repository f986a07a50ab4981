"""What leaves the machine: bounded, whole Unicode, without secrets, and on request without any content."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.session import subagents
from clew.session.session import Session
from clew.trace.content import LIMIT, Scribe, whole
from clew.trace.spans import Options, SessionTraces
from tests.builder import Builder, call, image, text, thinking
from tests.trace.recorded import cases

if TYPE_CHECKING:
    from clew.trace.span import Span

MARK = "Zq7-marker"

NOT_CONTENT = {
    "type", "role", "id", "uuid", "parentUuid", "sessionId", "timestamp", "model", "stop_reason", "name",
    "tool_use_id", "requestId", "agentId", "cwd", "gitBranch", "version", "subtype", "service_tier",
    "trigger", "status", "agentType", "subagent_type",
}  # fmt: skip
"""Fields that say who, when and where; they are sent with content off too."""


def strings(span: Span) -> list[str]:
    """All strings of a span."""
    found = [span.name, span.label, span.status_message]
    for told in (span.attributes, *(event.attributes for event in span.events)):
        for name, value in told.items():
            found += [name, *(str(one) for one in (value if isinstance(value, tuple) else (value,)))]
    return found


def marked(value: Any, field: str = "") -> Any:
    """Plant the marker in every string that is content."""
    if isinstance(value, str):
        return value if field in NOT_CONTENT else f"{value} {MARK}"
    if isinstance(value, dict):
        return {key: marked(inner, key) for key, inner in cast("dict[str, Any]", value).items()}
    return [marked(inner, field) for inner in cast("list[Any]", value)] if isinstance(value, list) else value


def planted(data: bytes) -> bytes:
    lines = (json.loads(line) for line in data.splitlines())
    return b"".join(json.dumps(marked(line)).encode() + b"\n" for line in lines)


def everything() -> bytes:
    """A session with all that can carry content."""
    builder = Builder().prompt([text("Look."), image()]).meta("Also this.")
    builder.system("api_error", error={"status": 529, "message": "Overloaded"}, retryAttempt=1)
    builder.answer(
        thinking("Hm."),
        text("I look."),
        {"type": "server_tool_use", "id": "srv_1", "name": "web_search", "input": {"query": "lamps"}},
        {"type": "web_search_tool_result", "tool_use_id": "srv_1", "content": [{"type": "x", "title": "t"}]},
        call("t1", "Read", {"file_path": "/secret.txt"}),
        call("t2", "Task", {"prompt": "Count.", "description": "Counting", "subagent_type": "counter"}),
        {"type": "hologram", "light": "green"},
        stop="tool_use",
    )
    builder.result("t1", "no such file", is_error=True, toolUseResult="Error: no such file")
    builder.result("t2", [text("Three."), image()], toolUseResult={"agentId": "a1", "prompt": "Count."})
    builder.system("compact_boundary", content="Compacted", compactMetadata={"trigger": "auto"})
    builder.answer("Done.")
    error = {"role": "assistant", "id": "e1", "model": "<synthetic>", "content": [text("API Error")]}
    return builder.entry("assistant", message=error, isApiErrorMessage=True).data()


def spans(data: bytes, options: Options, agent: bytes | None = None) -> list[Span]:
    session = Session.read(data, name="s1")
    sources = (
        [] if agent is None else [subagents.Source("a1", Session.read(agent), "a", {"description": MARK})]
    )
    traces = SessionTraces(session, subagents.agents(session, sources), options=options)
    return [span for turn in traces.turns() for span in turn.spans()]


def agent() -> bytes:
    side: dict[str, Any] = {"isSidechain": True, "agentId": "a1"}
    builder = (
        Builder()
        .prompt("Count.", **side)
        .answer(call("a1", "Bash"), message_id="x1", stop="tool_use", **side)
    )
    return builder.result("a1", **side).answer("Three.", message_id="x2", **side).data()


def test_without_content_no_string_of_the_session_is_sent() -> None:
    given_ = planted(everything()), planted(agent())
    told = [one for span in spans(given_[0], Options(content=False), given_[1]) for one in strings(span)]
    assert not [one for one in told if MARK in one]
    with_it = spans(given_[0], Options(), given_[1])
    assert all(any(MARK in one for one in strings(span)) for span in with_it)
    assert len(with_it) == 9


def test_without_content_no_recorded_session_shows_any() -> None:
    for case in cases():
        data = planted(b"".join(path.read_bytes() for path in case.files))
        for span in spans(data, Options(content=False)):
            assert not [one for one in strings(span) if MARK in one], case.name


def test_without_content_ids_times_and_usage_are_the_same() -> None:
    for case in cases()[::5]:
        for full, bare in zip(case.spans(), case.spans(Options(content=False)), strict=True):
            assert (full.span_id, full.start_ns, full.end_ns) == (bare.span_id, bare.start_ns, bare.end_ns)
            kept = {name: value for name, value in full.attributes.items() if name in bare.attributes}
            assert kept == bare.attributes
            gone = full.attributes.keys() - bare.attributes.keys()
            assert not [name for name in gone if "usage" in name or "token" in name or "cost" in name]


def test_every_content_goes_through_the_redactor() -> None:
    def redact(words: str) -> str:
        return words.replace(MARK, "[redacted]")

    for span in spans(planted(everything()), Options(redact=redact), planted(agent())):
        assert not [one for one in strings(span) if MARK in one], span.name
        assert any("[redacted]" in one for one in strings(span)), span.name


def test_a_secret_at_the_place_where_a_text_is_cut_is_taken_out_whole() -> None:
    secret = "sk-ant-" + "x" * 90
    for before in range(LIMIT - 120, LIMIT + 20, 7):
        said = "a" * before + secret + "b" * 50_000
        clean = Scribe(lambda words: words.replace(secret, "[redacted]")).text(said)
        assert "sk-ant-x" not in clean


def test_a_secret_at_the_end_of_what_is_looked_at_is_not_sent_by_half() -> None:
    secret = "sk-ant-" + "x" * 90
    for before in range(LIMIT + 8192 - 110, LIMIT + 8192, 9):
        # Everything before it goes, so that its first half moves to the front.
        said = "#" * before + secret + "b" * 50_000
        clean = Scribe(lambda words: words.replace(secret, "").replace("#", "")).text(said)
        assert "sk-ant-" not in clean


@pytest.mark.parametrize("limit", [300, 1000, 64 * 1024])
def test_no_attribute_is_longer_than_the_limit(limit: int) -> None:
    for wide in ("x", "é", "漢", "😀", '"', "\u0001"):
        long = wide * 70_000
        builder = (
            Builder()
            .prompt(long)
            .answer(
                thinking(long),
                text(long),
                call("t1", "Write", {"content": long, "list": [long] * 3, long: 1}),
                stop="tool_use",
            )
        )
        builder.result("t1", [text(long)] * 5, is_error=True).answer(*[text(long)] * 5)
        for span in spans(builder.data(), Options(limit=limit)):
            for name, value in span.attributes.items():
                for one in value if isinstance(value, tuple) else (str(value),):
                    assert len(one.encode()) <= limit, name
                if name.endswith(("messages", "arguments")):
                    json.loads(str(value))
            assert len(span.status_message.encode()) <= limit


def test_a_text_that_is_cut_says_how_long_it_was() -> None:
    clean = Scribe(limit=1000).text("é" * 5000)
    assert len(clean.encode()) <= 1000
    assert clean.startswith("é" * 400)
    assert clean.endswith("… [cut, 5000 characters in all]")


def test_a_text_that_fits_is_not_touched() -> None:
    for said in ("", "x" * LIMIT, "é" * (LIMIT // 2), "😀" * (LIMIT // 4)):
        assert Scribe().text(said) == said


def test_large_pictures_are_told_by_their_size_alone() -> None:
    picture = {
        "type": "image",
        "source": {"type": "base64", "media_type": "image/png", "data": "A" * 400_000},
    }
    builder = Builder().prompt([text("Look."), picture]).answer(call("t1"), stop="tool_use")
    found = spans(builder.result("t1", [picture]).answer("Done.").data(), Options())
    assert not [one for span in found for one in strings(span) if "A" * 9000 in one]
    (message,) = json.loads(str(found[0].attributes["gen_ai.input.messages"]))
    blob = {
        "type": "blob",
        "modality": "image",
        "mime_type": "image/png",
        "content": "",
        "byte_size": 300_000,
    }
    assert message["parts"][1] == blob


def test_halves_of_surrogate_pairs_and_nul_never_reach_the_wire() -> None:
    assert whole("a\ud83dz\0") == "a\ufffdz\ufffd"
    assert whole("\ud83d\ude00") == "😀"
    data = Builder().prompt("lone \\ud800 half").answer(call("t1", "Bash", {"a\\udfff": "b\\ud800"})).data()
    found = spans(data.replace(b"\\\\ud", b"\\ud"), Options())
    assert any("\ufffd" in one for span in found for one in strings(span))
    for span in found:
        for one in strings(span):
            one.encode()
            assert "\\ud8" not in one
            assert "\\udf" not in one


def test_deep_and_broad_values_are_cut_not_followed() -> None:
    deep: Any = "core"
    for _ in range(500):
        deep = [deep]
    scribe = Scribe()
    assert "[cut]" in scribe.json(scribe.clean(deep))
    broad = scribe.clean({str(n): list(range(1000)) for n in range(1000)})
    assert len(scribe.json(broad)) <= LIMIT


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=200),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=20), inner, max_size=5),
    max_leaves=30,
)


@given(values, st.booleans(), st.sampled_from([256, 400, 5000]))
def test_any_value_becomes_json_within_the_limit(value: object, ascii_only: bool, limit: int) -> None:
    scribe = Scribe(limit=limit)
    written = scribe.json(scribe.clean([value]), ascii_only=ascii_only)
    assert len(written.encode()) <= limit

    def refuse(name: str) -> None:
        raise AssertionError(name)

    json.loads(written, parse_constant=refuse)


@given(st.text(st.characters(), max_size=2000), st.integers(256, 1000))
def test_any_text_fits_and_is_whole(said: str, limit: int) -> None:
    assert len(Scribe(limit=limit).text(said).encode()) <= limit


def test_what_stands_under_a_name_is_cleaned_with_it_in_lists_too() -> None:
    told: list[tuple[str, str]] = []

    def named(name: str, text: str) -> str:
        told.append((name, text))
        return "gone" if "password" in name else text

    scribe = Scribe(lambda text: text, redact_named=named)
    given = {"a": "1", "env": {"password": "x", "passwords": ["y", {"deep": "z"}]}}
    assert scribe.clean(given) == {
        "a": "1",
        "env": {"password": "gone", "passwords": ["gone", {"deep": "z"}]},
    }
    assert told == [("a", "1"), ("password", "x"), ("passwords", "y"), ("deep", "z")]
    assert scribe.text("password") == "password"
