"""Make a store of sessions, always the same for the same seed, with a truth file beside it.

    python -m bench.generate DIR --bytes 2GB --seed 1

`DIR/projects/…` is what a client would have left there: eight client eras over more than a year, sub-agents
in every layout, forks, resumed copies, and three files that hold a twentieth of the bytes each.
`DIR/truth.json` says what is in it: token totals with every message counted once, where each planted needle
is, and what lines each file has.
"""

from __future__ import annotations

import argparse
import json
import re
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Literal

from bench import shapes
from bench.prose import make_pools
from bench.sessions import NEEDLE_FIELDS, Clock, Home, Place, Session, new_uuid
from bench.sheet import Sheet, Written, respeller
from bench.truth import Needle, Truth

VERSION = 1
"""Part of the cache key: raise it whenever the bytes or the truth of a seed change."""

DAY_MS = 86_400_000
UNITS = {"KB": 10**3, "MB": 10**6, "GB": 10**9}
PROJECTS = (
    "/home/dev/src/clew",
    "/home/dev/src/api.server",
    "/home/dev/src/api-server",  # shares its folder with the one above
    "/home/dev/src/web_shop",
    "/home/dev/src/Daten Bank",
    "/home/dev/src/検索エンジン",
    "/home/dev/src/tiny-🧶",
    "E:\\workspaces\\project",
    "/Users/dev/notes",
    "/srv/build/agent-7",
    "/home/dev/src/lighthouse",
    "/home/dev/src/quarry",
    "/home/dev/src/mill/frontend",
    "/home/dev/src/mill/backend",
)


@dataclass(frozen=True, slots=True)
class Recipe:
    """Everything that decides the bytes of a corpus."""

    size: int
    seed: int = 1
    shuffled_keys: bool = False
    spaced: bool = False
    request_ids: bool = True


def parse_size(text: str) -> int:
    """Read `20MB` or `2GB` (powers of ten), or a plain number of bytes."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMG]B)?", text.strip(), re.IGNORECASE)
    if match is None:
        raise ValueError(f"{text!r} is not a size; write 200MB or 2GB")
    return int(float(match[1]) * UNITS.get((match[2] or "").upper(), 1))


def slug(path: str) -> str:
    """The folder name a client makes of a path: every UTF-16 unit that is no ASCII letter or digit is a dash.
    The folder name a client makes of a path: every UTF-16 unit that is no ASCII letter or digit is a dash.
    """
    return "".join(c if c.isascii() and c.isalnum() else "-" * (1 + (ord(c) > 0xFFFF)) for c in path)


def generate(root: Path, recipe: Recipe) -> Truth:
    """Write the corpus and its truth file below `root`, which must be empty or absent."""
    if root.exists() and any(root.iterdir()):
        raise FileExistsError(f"{root} is not empty")
    maker = _Maker(root, recipe)
    maker.make()
    facts: dict[str, object] = {"generator": VERSION, "seed": recipe.seed}
    facts |= {
        "shuffled_keys": recipe.shuffled_keys,
        "spaced": recipe.spaced,
        "request_ids": recipe.request_ids,
    }
    facts |= maker.truth.as_json()
    (root / "truth.json").write_text(json.dumps(facts, ensure_ascii=False, indent=1), encoding="utf-8")
    return maker.truth


class _Maker:
    """The choices over a whole corpus: how many files, how large, which are copies."""

    def __init__(self, root: Path, recipe: Recipe) -> None:
        self.root, self.recipe, self.truth = root, recipe, Truth()
        self.rng = Random(recipe.seed)
        small = min(1.0, max(0.05, recipe.size / parse_size("20MB")))
        self.place = Place(
            self.rng, make_pools(Random(recipe.seed), size=int(small * (1 << 21))), self.truth, small
        )
        # A generator of its own: the variants must hold the same sessions as the plain corpus.
        self.rewrite = respeller(
            Random(recipe.seed),
            shuffled=recipe.shuffled_keys,
            spaced=recipe.spaced,
            request_ids=recipe.request_ids,
        )
        self.words: set[str] = set()
        self.copies = 0

    def make(self) -> None:
        rng, size = self.rng, self.recipe.size
        for n in range(3):
            self._session(size // 20, era=shapes.ERAS[(1, 4, 7)[n]], needles=NEEDLE_FIELDS)
        mean = min(500_000, size // 80)
        rates = [era.weight for era in shapes.ERAS]
        made = 0
        while (missing := size - self.truth.planned) > 0:
            target = min(int(mean * rng.lognormvariate(-0.7, 1.2)), missing)
            # Three sessions of ten hold a needle, so that their number grows with the corpus.
            needles = (NEEDLE_FIELDS[made % len(NEEDLE_FIELDS)],) if made % 10 < 3 or made < 14 else ()
            # The first sessions go round the eras, so that a small corpus has every shape too.
            era = shapes.ERAS[made % 8] if made < 16 else rng.choices(shapes.ERAS, rates)[0]
            keep = made < 3 or rng.random() < 0.12
            session = self._session(target, era=era, needles=needles, keep=keep, delegate=made < 8)
            if session.sheet.kept:
                self._copy(session)
            if rng.random() < 0.005 and era.agents != "inline":
                self._sheet(session.home, new_uuid(rng)).close()
            made += 1

    def _home(self) -> Home:
        cwd = self.rng.choice(PROJECTS)
        return Home(
            cwd, f"projects/{slug(cwd)}", self.rng.choice(("main", "main", "feature/index", "fix-42"))
        )

    def _sheet(self, home: Home, session_id: str, *, keep: bool = False) -> Sheet:
        return Sheet(self.root, f"{home.folder}/{session_id}.jsonl", self.truth, self.rewrite, keep)

    def _session(
        self,
        target: int,
        *,
        era: shapes.Era,
        needles: tuple[str, ...],
        keep: bool = False,
        delegate: bool = False,
    ) -> Session:
        rng = self.rng
        home, session_id = self._home(), new_uuid(rng)
        start = int(datetime.fromisoformat(era.start).replace(tzinfo=UTC).timestamp() * 1000)
        wanted = [(int(rng.random() * target), self._needle(name)) for name in needles]
        session = Session(
            self.place,
            era,
            home,
            self._sheet(home, session_id, keep=keep),
            session_id,
            Clock(start + int(rng.random() * era.days * DAY_MS)),
            may_tie=not keep,
            delegated=not delegate,
            wanted=sorted(wanted, key=lambda want: -want[0]),
        )
        session.run(target)
        session.sheet.close()
        return session

    def _needle(self, name: str) -> Needle:
        rng = self.rng
        while True:
            if rng.random() < 0.25:
                word = "".join(chr(0x9F00 + rng.randrange(0xA0)) for _ in range(4))
            else:
                word = f"zq{rng.getrandbits(44):011x}"
            if word not in self.words:
                break
        self.words.add(word)
        needle = Needle(word, name)
        self.truth.needles.append(needle)
        return needle

    # -- copies ------------------------------------------------------------------------------------

    def _copy(self, source: Session) -> None:
        """Fork a session, or resume it the old way: a new file that repeats lines of another, then goes on.
        Fork a session, or resume it the old way: a new file that repeats lines of another, then goes on.
        """
        rng, era = self.rng, source.era
        chained = [written for written in source.sheet.kept if '"uuid":"' in written.line]
        session_id, clock = new_uuid(rng), Clock(source.clock.ms + int(rng.random() * 3 * DAY_MS))
        sheet = self._sheet(source.home, session_id)
        self.copies += 1
        if era.resume == "copy" and self.copies % 2:
            lines = self._resumed(chained, source.session_id, session_id, clock)
        else:
            # Anywhere, also between two lines of one message: the fork then knows less of it than its source.
            lines = self._forked(chained[: rng.randint(1, len(chained))], source, session_id)
        for written in lines:
            sheet.put(written.kind, written.line, written.needles)
        last = re.findall(r'(?<!\\)"uuid":"([^"]*)"', lines[-1].line)[-1]
        session = Session(
            self.place, era, source.home, sheet, session_id, clock, parent=f'"{last}"', allow_agents=False
        )
        session.run(sheet.size + min(60_000, source.sheet.size // 4))
        sheet.close()

    def _forked(self, lines: list[Written], source: Session, session_id: str) -> list[Written]:
        old, new = f'"sessionId":"{source.session_id}"', f'"sessionId":"{session_id}"'
        return [
            written
            if source.era.fork == "mixed" and written.kind == "user"
            else replace(written, line=written.line.replace(old, new))
            for written in lines
        ]

    def _resumed(self, lines: list[Written], old_id: str, session_id: str, clock: Clock) -> list[Written]:
        """As client 1.0.35 resumes: every line again with new uuids, the time of resuming and no requestId.
        As client 1.0.35 resumes: every line again with new uuids, the time of resuming and no requestId.
        """
        time, renamed = clock.tick(0), dict[str, str]()

        def rename(match: re.Match[str]) -> str:
            uuid = renamed.setdefault(match[2], new_uuid(self.rng))
            return f'"{match[1]}":"{uuid}"'

        copies: list[Written] = []
        for written in lines:
            line = written.line.replace(f'"sessionId":"{old_id}"', f'"sessionId":"{session_id}"')
            line = re.sub(r'"(uuid|parentUuid|logicalParentUuid)":"([0-9a-f-]{36})"', rename, line)
            line = re.sub(r'"timestamp":"[^"]*"', f'"timestamp":"{time}"', line)
            copies.append(replace(written, line=re.sub(r'"requestId":"[^"]*",', "", line)))
        return copies


Kind = Literal["mixed", "progress", "giant-line", "turns"]


def one_session(path: Path, size: int, kind: Kind, *, seed: int = 1) -> Truth:
    """Write one large session to `path` and return what is in it.

    `mixed` is an ordinary session of `size` bytes; `progress` is nearly all progress lines of some 700 bytes;
    in `giant-line` one tool result alone has `size` bytes and a few ordinary turns stand around it; of
    `turns`, ordinary ones with short texts, there are `size`.
    """
    truth, rng = Truth(), Random(seed)
    place = Place(rng, make_pools(Random(seed)), truth, 0.15 if kind == "turns" else 1.0)
    home = Home("/home/dev/src/clew", path.parent.as_posix(), "main")
    era = shapes.ERAS[6] if kind == "giant-line" else shapes.ERAS[4]
    sheet = Sheet(path.parent, path.name, truth)
    clock = Clock(int(datetime(2026, 2, 2, tzinfo=UTC).timestamp() * 1000))
    session = Session(place, era, home, sheet, path.stem, clock, allow_agents=False)
    match kind:
        case "mixed":
            session.run(size)
        case "progress":
            while sheet.size < size:
                session.turn()
                session.progress("toolu_01progress", 2_000)
        case "turns":
            for _ in range(size):
                session.turn()
        case "giant-line":
            session.run(50_000)
            session.giant_result(size)
            session.run(sheet.size + 50_000)
    sheet.close()
    return truth


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.generate", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("dir", type=Path)
    parser.add_argument(
        "--bytes", type=parse_size, default=parse_size("2GB"), metavar="SIZE", help="20MB, 200MB, 2GB"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--shuffled-keys", action="store_true", help="the same entries with their keys in any order"
    )
    parser.add_argument("--spaced", action="store_true", help="with a blank after every separator")
    parser.add_argument("--no-request-ids", action="store_true", help="without any requestId")
    args = parser.parse_args()
    recipe = Recipe(args.bytes, args.seed, args.shuffled_keys, args.spaced, not args.no_request_ids)
    truth = generate(args.dir, recipe)
    print(
        json.dumps(
            {"files": len(truth.files), "lines": sum(i.lines for i in truth.files.values())}
            | truth.total.as_json()
        )
    )


if __name__ == "__main__":
    main()
