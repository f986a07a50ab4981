"""Replay what a session did to files as a new git repository: one commit for each turn that changed some."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from clew.actions.file_changes import LeftOut
from clew.session.file_versions import Gap
from clew.session.inside_paths import Places
from clew.session.prompts import read
from clew.session.spending import turn_spent
from clew.store.workspace import Commit, repository

if TYPE_CHECKING:
    from collections.abc import Callable

    from clew.actions.file_changes import Followed
    from clew.session.turns import Turn

_LONGEST: Final = 72
_MOST: Final = 20_000
"""Characters of a prompt that a message has; a pasted log is in the session for those who want it."""


@dataclass(frozen=True, slots=True)
class Replayed:
    """A history that was written."""

    folder: str
    commits: int
    files: int
    left_out: tuple[LeftOut, ...]
    gaps: tuple[Gap, ...]

    def as_dict(self) -> dict[str, object]:
        """Return the JSON document."""
        return {
            "into": self.folder,
            "commits": self.commits,
            "files": self.files,
            "left_out": [one._asdict() for one in self.left_out],
            "gaps": [
                {"path": gap.path, "first_turn": gap.first_turn, "last_turn": gap.last_turn, "why": gap.why}
                for gap in self.gaps
            ],
        }


def replay(
    followed: Followed,
    folder: str,
    *,
    base: bool = False,
    start: Callable[[int], Callable[[], None]] | None = None,
) -> Replayed:
    """Write the history into a folder that is empty or not there.

    With `base` it begins with the files as they were before the session changed them.
    """
    places = Places(followed.cwd)
    by_number = {turn.n: turn for turn in followed.turns}
    left_out: dict[str, LeftOut] = {}
    gaps: list[Gap] = []
    advance = None if start is None else start(len(followed.happened) * (2 if base else 1))
    with repository(folder) as made:
        files: dict[str, bytes | None] = {}
        if base and (known := _before(followed, places, advance)):
            first = followed.turns[0].started if followed.turns else None
            made.add(Commit("Before the session\n", first, known))
        current: int | None = None
        for one in followed.changes(advance=advance):
            place = places.of(one.path)
            if isinstance(one, Gap):
                gaps.append(one)
                if one.is_gone:
                    files[place] = None
                continue
            # A sub-agent may go on while the next turn has begun: what it does then is in that turn's commit.
            if current is not None and one.turn > current:
                made.add(_commit(followed, by_number.get(current), current, files))
                files = {}
            current = one.turn if current is None else max(current, one.turn)
            if one.content is None:
                left_out[one.path] = LeftOut(one.path, f"not known after turn {one.turn}")
            else:
                files[place] = one.content.data
        if current is not None:
            made.add(_commit(followed, by_number.get(current), current, files))
        return Replayed(made.folder, made.commits, len(followed.paths), tuple(left_out.values()), tuple(gaps))


def _before(
    followed: Followed, places: Places, advance: Callable[[], None] | None
) -> dict[str, bytes | None]:
    files: dict[str, bytes | None] = {}
    seen: set[str] = set()
    for one in followed.changes(advance=advance):
        if not isinstance(one, Gap) and one.path not in seen:
            seen.add(one.path)
            if one.before is not None:
                files[places.of(one.path)] = one.before.data
    return files


def _commit(followed: Followed, turn: Turn | None, number: int, files: dict[str, bytes | None]) -> Commit:
    session = followed.opened.session
    prompt = None if turn is None or turn.prompt_row is None else read(session.entry(turn.prompt_row)).words
    words = (prompt or "").strip()[:_MOST] or "No prompt"
    first = words.split("\n", 1)[0]
    if len(first) > _LONGEST:
        words = f"{first[: _LONGEST - 1]}…\n\n{words}"
    trailers = [f"Clew-Session: {followed.opened.file.id}", f"Clew-Turn: {number}"]
    cost = None if turn is None else turn_spent(session, turn).cost_usd
    if cost is not None:
        trailers.append(f"Clew-Cost-USD: {cost:.4f}")
    message = f"{words}\n\n" + "\n".join(trailers) + "\n"
    return Commit(message, None if turn is None else (turn.ended or turn.started), files)
