"""What every exporter keeps to, whatever it writes.

A suite for one exporter is a subclass of `ExporterContract` that names it and says what is valid:

    class TestMarkdown(ExporterContract):
        name = "md"

        def validate(self, data: bytes, story: Story) -> None:
            assert data.startswith(b"# ")
"""

from __future__ import annotations

import tracemalloc
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import pytest

from clew.export import registry
from clew.export.options import Options
from tests.edit.secrets_planted import left_of
from tests.export import hostile
from tests.export.stories import story_at, story_from

if TYPE_CHECKING:
    from clew.export.registry import Exporter
    from clew.export.story import Story
    from tests.export.conftest import SownStore

CORPUS = Path(__file__).parent.parent / "data" / "corpus"


@cache
def recorded() -> tuple[Path, ...]:
    """The recorded sessions, without the files of sub-agents."""
    found = CORPUS.glob("*/*/projects/*/*.jsonl")
    return tuple(sorted(path for path in found if not path.name.startswith("agent-")))


@cache
def known_story(path: Path, is_one_way: bool) -> Story:
    """The story of a recorded session, made once for all exporters."""
    return story_at(path, is_one_way=is_one_way)


class ExporterContract:
    """The laws of exporters."""

    name: ClassVar[str]
    payloads: ClassVar[tuple[str, ...]] = hostile.MARKUP
    """What is put into every field to see whether it stays text."""

    step: ClassVar[int] = 3
    """Of the recorded sessions one in so many is looked at here; the acceptance run looks at all."""

    def validate(self, data: bytes, story: Story, /) -> None:
        """Fail where the bytes are not what the format is."""
        raise NotImplementedError

    def validate_hostile(self, data: bytes, story: Story, _payload: str, /) -> None:
        """Fail where a payload is more than text; valid it must be in any case."""
        self.validate(data, story)

    @property
    def exporter(self) -> Exporter:
        return registry.find(self.name)

    def written(self, story: Story, options: Options | None = None) -> bytes:
        return b"".join(self.exporter.write(story, options or Options()))

    def story(self, path: Path) -> Story:
        return known_story(path, self.exporter.is_one_way)

    def made(self, data: bytes) -> Story:
        return story_from(data, is_one_way=self.exporter.is_one_way)

    def test_it_is_listed_with_one_line_of_help(self) -> None:
        exporter = self.exporter
        assert exporter.help
        assert "\n" not in exporter.help
        assert exporter.suffix.startswith(".")
        assert "/" in exporter.media_type

    def test_every_recorded_session_is_valid_in_it(self) -> None:
        self.validate_recorded(self.step)

    def validate_recorded(self, step: int) -> None:
        for path in recorded()[::step]:
            story = self.story(path)
            self.validate(self.written(story), story)

    def test_the_same_session_gives_the_same_bytes(self) -> None:
        for path in recorded()[::25]:
            story = self.story(path)
            first = self.written(story)
            assert self.written(story) == first, path
            assert self.written(story_at(path, is_one_way=self.exporter.is_one_way)) == first, path

    def test_what_may_be_left_out_is(self) -> None:
        for path in recorded()[::40]:
            story = self.story(path)
            bare = self.written(story, Options(with_thinking=False, with_agents=False))
            self.validate(bare, story)

    def test_values_of_any_type_give_something_valid(self) -> None:
        for data in (*hostile.wrong_types(), *hostile.damaged()):
            story = self.made(data)
            self.validate(self.written(story), story)

    def test_text_stays_text(self) -> None:
        for payload in (*self.payloads, *hostile.ESCAPES[::6]):
            story = self.made(hostile.everywhere(payload))
            self.validate_hostile(self.written(story), story, payload)

    def test_text_is_utf_8_without_controls(self) -> None:
        if not self.exporter.is_text:
            return
        for payload in hostile.ESCAPES:
            told = self.written(self.made(hostile.everywhere(payload))).decode("utf-8")
            assert not {sign for sign in told if ord(sign) < 32 or 127 <= ord(sign) < 160} - {"\n", "\t"}

    def test_no_secret_is_left_when_they_are_taken_out(self, sown_store: SownStore) -> None:
        is_one_way = self.exporter.is_one_way
        before = self.written(sown_store.story(is_one_way=is_one_way, is_redacted=False))
        assert sum(one.secret.encode() in before for one in sown_store.sown) > 40
        story = sown_store.story(is_one_way=is_one_way, is_redacted=True)
        assert sum(story.redacted.values()) > 200
        after = self.written(story)
        self.validate(after, story)
        assert left_of(after, sown_store.sown) == []
        assert b"[redacted:" in after or b"\\[redacted:" in after

    def test_a_long_session_is_never_held(self) -> None:
        """Of 32 MB of turns only a few are in memory at a time, and those that were read last.

        `api` is one list of messages and may hold it.
        """
        if self.exporter.is_context:
            return
        story = self.made(hostile.long(turns=64, size=250_000))
        size = story.session.source.size
        assert size > 30_000_000
        tracemalloc.start()
        try:
            count = sum(map(len, self.exporter.write(story, Options())))
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert count > 1000
        assert peak < 20_000_000, f"{peak:,} bytes for a session of {size:,}"


def all_names() -> tuple[str, ...]:
    return registry.names()


@pytest.mark.parametrize("name", all_names())
def test_each_name_finds_its_exporter(name: str) -> None:
    assert registry.find(name).name == name
