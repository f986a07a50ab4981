"""Stores with sessions that change files, and a file whose every line says who wrote it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.builder import START_MS, Builder
from tests.faces.stage import write
from tests.session.file_stories import HOME, Story

if TYPE_CHECKING:
    from pathlib import Path
    from random import Random

NOBODY = "somebody else"


def store_of(root: Path, **stories: Story) -> Path:
    """Write stories into a store, each as a session of its name."""
    write(root, "-home-ada-lighthouse", {name: story.builder.data() for name, story in stories.items()})
    return root


def signed(random: Random, turns: int, *, name: str, first: bytes, start: float = 0) -> Story:
    """Make a session that changes `diary.txt` in each turn; each line it writes names session and turn.

    So the truth stands in the file itself, and nothing has to be worked out to know it.
    """
    story = Story()
    story.builder = Builder(name)
    story.builder.wait(start)
    story.files["diary.txt"] = first
    count = 0

    def line() -> str:
        nonlocal count
        count += 1
        return f"{name} turn {story.turn} line {count}"

    for _ in range(turns):
        story.prompt(f"Prompt of {name}, number {story.turn + 1}")
        if not story.files["diary.txt"]:
            del story.files["diary.txt"]
            story.write("diary.txt", "".join(line() + "\n" for _ in range(12)))
        for _ in range(random.randrange(1, 4)):
            rows = [row for row in story.files["diary.txt"].decode().split("\n") if row]
            old = random.choice(rows)
            match random.randrange(5):
                case 0 if len(rows) > 8:
                    story.edit("diary.txt", old + "\n", "")
                case 1:
                    story.edit("diary.txt", old, line())
                case 2:
                    story.edit("diary.txt", old, f"{line()}\n{old}\n{line()}")
                case 3:
                    at = random.randrange(len(rows))
                    new = [*rows[:at], line(), *rows[at + 2 :]]
                    story.write("diary.txt", "\n".join(new) + "\n")
                case _:
                    at = random.randrange(len(rows))
                    rows.insert(at, f"{NOBODY} {story.turn} {count}")
                    story.bash("diary.txt", lambda _, rows=tuple(rows): ("\n".join(rows) + "\n").encode())
        story.builder.answer("Done.")
    return story


__all__ = ["HOME", "NOBODY", "START_MS", "signed", "store_of"]
