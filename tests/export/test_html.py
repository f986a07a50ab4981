"""The page: what stands in it, in which order, and that nothing of a session can become markup in it."""

from __future__ import annotations

import base64
import hashlib
import re
import tracemalloc
from dataclasses import replace
from html.parser import HTMLParser
from typing import TYPE_CHECKING

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.export import html
from clew.export.html_gate import encode, text
from clew.export.options import Options
from clew.view import parts
from clew.view.parts import Head, TurnHead, Work
from tests.export.contract import ExporterContract
from tests.export.page_stories import answer, assets, every_kind, prompt, shell, story

if TYPE_CHECKING:
    from collections.abc import Iterator

    from clew.export.story import Story
    from clew.view.timeline import TurnView


def page(told: Story, options: Options | None = None) -> str:
    return b"".join(html.write(told, options or Options())).decode("utf-8")


class Reading(HTMLParser):
    """A page as another parser reads it: its elements, and the data and text in them."""

    def __init__(self, source: str, *, scripts: bool = True) -> None:
        super().__init__(convert_charrefs=True)
        self.names: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.blocks: list[tuple[dict[str, str], str]] = []
        self.plain = ""
        self.styles: list[str] = []
        self._open: list[str] = []
        self._last: dict[str, str] = {}
        # A browser that runs scripts takes what is in a noscript element for text.
        self.feed(re.sub(r"<noscript>.*?</noscript>", "", source, flags=re.DOTALL) if scripts else source)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)
        self._last = {name: value or "" for name, value in attrs}
        self.attributes += [(name, value or "") for name, value in attrs]
        self._open.append(tag)
        if tag == "script":
            self.blocks.append((self._last, ""))

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        inside = self._open[-1] if self._open else ""
        if inside == "script":
            self.blocks[-1] = (self.blocks[-1][0], self.blocks[-1][1] + data)
        elif inside == "style":
            self.styles.append(data)
        else:
            self.plain += data


def chunks(source: str) -> list[tuple[dict[str, str], list[dict[str, object]]]]:
    found = [block for block in Reading(source).blocks if block[0].get("class") == "chunk"]
    return [(named, msgspec.json.decode(data, type=list[dict[str, object]])) for named, data in found]


class TestContract(ExporterContract):
    """What every exporter keeps to."""

    name = "html"

    def validate(self, data: bytes, story: Story, /) -> None:
        source = data.decode("utf-8")
        reading = Reading(source)
        assert set(reading.names) <= EXPECTED
        made = [item for named, data in chunks(source) if "data-a" not in named for item in data]
        assert len(made) >= len(story.heads)
        shown = sum(1 for named, _ in chunks(source) if "data-a" not in named and named["data-i"] == "0")
        assert shown >= len(story.heads)

    def validate_hostile(self, data: bytes, story: Story, _payload: str, /) -> None:
        self.validate(data, story)
        source = data.decode("utf-8")
        assert set(Reading(source, scripts=False).names) <= EXPECTED
        assert "ZQX" in source


def owner(named: dict[str, str]) -> str:
    """The sub-agent whose chunk it is."""
    return msgspec.json.decode(named.get("data-a", '""'), type=str)


def test_the_policy_names_the_very_script_and_style() -> None:
    source = page(every_kind())
    reading = Reading(source)
    scripts = [data for named, data in reading.blocks if "type" not in named]
    assert len(scripts) == 1
    assert len(reading.styles) == 1
    policy = _policy(source)
    for directive, content in (("script-src", scripts[0]), ("style-src", reading.styles[0])):
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{directive} 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none';")
    for rule in ("img-src data:", "base-uri 'none'", "form-action 'none'"):
        assert rule in policy
    assert "unsafe" not in policy


def _policy(source: str) -> str:
    found = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', source)
    assert found
    assert source.index("<title>") > found.start() > source.index("<meta charset"), "it holds from the start"
    return found[1]


def test_the_renderer_cannot_be_left_early() -> None:
    script, style = (content.decode() for content in assets().values())
    assert not re.search(r"<!--|</?script", script, re.IGNORECASE)
    assert "</" not in style
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e]", script + style)


def test_facts_and_turns_come_first_then_the_renderer_then_what_was_said() -> None:
    source = page(every_kind())
    places = [
        source.index(one) for one in ('id="facts"', 'id="turns"', '"use strict"', 'class="chunk"', 'id="end"')
    ]
    assert places == sorted(places)


def test_a_chunk_holds_the_items_as_they_were() -> None:
    told = every_kind()
    made = [one for named, data in chunks(page(told)) if "data-a" not in named for one in data]
    wanted = [msgspec.json.decode(msgspec.json.encode(item)) for turn in told.turns() for item in turn.flow()]
    assert made == wanted


def test_marks_tell_each_item_without_reading_it() -> None:
    for named, data in chunks(page(every_kind())):
        marks = named["data-k"].split()
        assert len(marks) == len(data)
        for mark, item in zip(marks, data, strict=True):
            letter = {"prompt": "p", "answer": "a", "thinking": "t", "call": "c", "note": "n", "rule": "r"}
            wanted = letter.get(str(item["kind"]), "w")
            wanted = "A" if item.get("is_last") else "x" if item.get("state") == "failed" else wanted
            assert mark[0] == wanted
            assert int(mark[1:]) >= 1


def test_a_long_turn_is_cut_into_chunks_that_go_on_counting() -> None:
    told = story([[prompt("go"), *(shell(f"echo {n}", "x" * 500) for n in range(400))]])
    found = chunks(page(told))
    assert len(found) > 4
    at = 0
    for named, data in found:
        assert int(named["data-i"]) == at
        assert len(data) <= html.CHUNK_ITEMS
        at += len(data)
    assert at == 401


def test_one_huge_item_is_a_chunk_of_its_own() -> None:
    told = story([[prompt("go"), shell("cat", "y" * 3_000_000), shell("true", "ok")]])
    assert [len(data) for _, data in chunks(page(told))] == [1, 1, 1]


def test_a_sub_agent_stands_behind_the_turn_that_started_it_and_names_the_call() -> None:
    found = chunks(page(every_kind()))
    assert [owner(named) for named, _ in found] == ["", "a1b2", ""]
    named = found[1][0]
    assert msgspec.json.decode(named["data-f"]) == "t1.9"
    assert msgspec.json.decode(named["data-h"], type=TurnHead).n == 1


@pytest.mark.parametrize("name", ["\u202eb\u2028\x00", "\"'<&>", "\ud800x", "日本 🌿"])
def test_the_name_of_a_sub_agent_is_the_same_in_its_call_and_at_its_chunks(name: str) -> None:
    calling = parts.Call("Task", "", "", "done", agents=(parts.Agent(name),))
    found = chunks(page(story([[calling]], agents={name: [[prompt("x")]]})))
    told = msgspec.convert(found[0][1][0]["agents"], list[dict[str, str]])
    assert told[0]["agent_id"] == owner(found[1][0])


def test_sub_agents_that_start_each_other_end() -> None:
    def starting(name: str) -> parts.Call:
        return parts.Call("Task", "", "", "done", agents=(parts.Agent(name),))

    told = story(
        [[prompt("go"), starting("one")]], agents={"one": [[starting("two")]], "two": [[starting("one")]]}
    )
    assert [owner(named) for named, _ in chunks(page(told))] == ["", "one", "two"]


def test_what_may_be_left_out_is_and_the_page_says_so() -> None:
    source = page(every_kind(), Options(with_thinking=False, with_agents=False))
    found = chunks(source)
    assert all("data-a" not in named for named, _ in found)
    assert not [one for _, data in found for one in data if one["kind"] == "thinking"]
    assert "thinking is left out" in source
    assert "what sub-agents did is left out" in source
    assert "folded-thought-word" not in source


def test_what_was_redacted_is_told_when_everything_was_read() -> None:
    counted: dict[str, int] = {}

    def late() -> Iterator[TurnView]:
        counted["token"] = 3
        yield from ()

    told = replace(story([], is_redacted=True, turns_of=late), redacted=counted)
    blocks = {named.get("id"): data for named, data in Reading(page(told)).blocks}
    assert msgspec.json.decode(blocks["end"]) == {"redacted": {"token": 3}}


def test_without_scripts_prompts_answers_and_call_lines_are_there_as_text() -> None:
    reading = Reading(page(every_kind()), scripts=False)
    for said in (
        "Sold-out loaves stay off the order form",
        "People can order what is sold out. Why?",
        "Let me **look** at `orders.py`, see [the docs](https://example.org/x) and <b>this</b>.",
        "python -m pytest -q",
        "exit 1",
        "line 20 of the output",
        "1,462 more lines",
        "-    shelf[loaf] -= 1",
        "And now?␛[31m red [RLO] turned",
        "secrets were looked for and taken out",
    ):
        assert said in reading.plain, said
    assert "line 21 of the output" not in reading.plain
    assert "b" in reading.names, "the names of tools are bold"
    assert "img" not in reading.names
    assert "a" not in reading.names


HOSTILE = (
    "</script><script>alert(1)</script>",
    "<!--<script>",
    "--></noscript><img src=x onerror=alert(1)>",
    "\"'><svg onload=alert(1)>",
    "</title></style></textarea>",
    "&lt;b&gt; &#60; \u2028\u2029\x00\x1b\x7f\x85\x9b",
    "\ud800 \udfff \ud83d",
)


def everywhere(said: str) -> Story:
    """The text in every place of a story there is."""
    code = parts.Code(said, said, said)
    agent = parts.Agent(said, said, said)
    inner = (
        parts.Text(said),
        parts.Markdown(said),
        code,
        parts.Diff(said, (parts.Hunk(1, 1, (f"+{said}", f"-{said}", said)),)),
        parts.Table(((said, said),), (said, said)),
        parts.Image(said, said, data=said, url=said),
        parts.Notice(said, detail=said),
        parts.Todos((parts.Todo(said, "pending"),)),
        parts.Section(said, (code,)),
    )
    flow = [
        parts.Prompt(inner, said, input_kind=said),
        parts.Answer(inner, said, model=said),
        parts.Thinking(said, said),
        parts.Call(said, said, said, "failed", said, said, said, given=inner, result=inner, agents=(agent,)),
        parts.Note(said, inner, said, agents=(agent,)),
        parts.Rule(said, "fork", said, inner),
        parts.Notice(said, "error", detail=said),
    ]
    many = (said, said)
    head = Head(
        said, said, 1, Work(), said, said, said, models=many, versions=many, session_ids=many, unpriced=many,
        prices=said,
    )  # fmt: skip
    heads = [TurnHead(1, said, said, Work(), said, marks=many)]
    return story(
        [flow],
        head=head,
        heads=heads,
        agents={said: [flow]},
        redacted={said: 1},
        is_redacted=True,
        version=said,
    )


EXPECTED = {
    "html", "head", "meta", "title", "style", "body", "div", "script", "noscript", "h1", "h2", "small", "bdi",
    "dl", "dt", "dd", "p", "b", "code", "pre",
}  # fmt: skip


@pytest.mark.parametrize("said", HOSTILE)
def test_nothing_a_session_says_becomes_an_element_or_an_attribute(said: str) -> None:
    source = page(everywhere(said))
    calm = page(everywhere("calm"))
    for scripts in (True, False):
        one, other = Reading(source, scripts=scripts), Reading(calm, scripts=scripts)
        assert one.names == other.names
        assert set(one.names) <= EXPECTED
        assert [name for name, _ in one.attributes] == [name for name, _ in other.attributes]


@pytest.mark.parametrize("said", HOSTILE)
def test_there_is_no_control_and_no_half_of_a_pair_in_a_page(said: str) -> None:
    source = page(everywhere(said))
    assert not {sign for sign in source if ord(sign) < 32 or 127 <= ord(sign) < 160} - {"\n", "\t"}
    assert not re.search("[\u2028\u2029\ud800-\udfff]", source)


@settings(max_examples=30)
@given(
    st.text(
        alphabet=st.one_of(st.sampled_from("<>&'\"/!-\\\u2028\u2029\x00\x7f\x85sScript"), st.characters())
    )
)
def test_data_passes_the_gate_unchanged_and_without_a_sign_of_markup(said: str) -> None:
    raw = encode({"said": said})
    assert not re.search(rb"[<>&\x7f]|\xe2\x80[\xa8\xa9]|\xc2[\x80-\x9f]", raw)
    whole = said.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    assert msgspec.json.decode(raw) == {"said": whole}


@settings(max_examples=30)
@given(st.text(alphabet=st.one_of(st.sampled_from("<>&'\"\x00\x1b\u202e"), st.characters())))
def test_text_passes_the_gate_as_text(said: str) -> None:
    made = text(said)
    assert not re.search("[<>'\"\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\ud800-\udfff]", made)
    assert not re.search("&(?!(amp|lt|gt|quot|#39);)", made)


def test_a_session_without_turns_is_a_page_too() -> None:
    source = page(story([], head=Head("s", "", 0, Work(cost_usd=None))))
    assert "<title>Untitled session</title>" in source
    assert chunks(source) == []


def test_a_long_session_is_never_held() -> None:
    output = "z" * 200_000
    turns = [[prompt(f"turn {n}"), shell("cat", output), answer("ok", is_last=True)] for n in range(150)]
    told = story(turns)
    b"".join(html.write(story(turns[:1]), Options()))
    tracemalloc.start()
    try:
        size = sum(map(len, html.write(told, Options())))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert size > 30_000_000
    assert peak < 4_000_000
