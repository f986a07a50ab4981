"""A project to decide in, and short ways to ask."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from clew.agent.permissions import Decision, decide
from clew.agent.rules import Rule, Rules, parse_rule
from clew.agent.tool import Reach

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path


def rules(*, allow: Sequence[str] = (), deny: Sequence[str] = (), ask: Sequence[str] = ()) -> Rules:
    return Rules(_parsed(allow), _parsed(deny), _parsed(ask))


def _parsed(texts: Sequence[str]) -> tuple[Rule, ...]:
    found = [parse_rule(text) for text in texts]
    assert None not in found, texts
    return tuple(rule for rule in found if rule is not None)


@dataclass(frozen=True)
class Place:
    """A project with a few files, a home, and something outside of both."""

    root: Path

    @classmethod
    def make(cls, folder: Path) -> Place:
        place = cls(folder.resolve())
        for name in ("project/src", "project/.git/hooks", "home/.ssh", "outside"):
            (place.root / name).mkdir(parents=True)
        for name in ("project/src/a.py", "project/b.txt", "project/.env", "outside/secret", "home/.ssh/key"):
            (place.root / name).write_text("some words\n")
        (place.root / "project" / "link").symlink_to(place.root / "outside" / "secret")
        (place.root / "project" / "way").symlink_to(place.root / "outside")
        return place

    @property
    def project(self) -> str:
        return str(self.root / "project")

    @property
    def outside(self) -> str:
        return str(self.root / "outside")

    def call(
        self,
        tool: str,
        reach: Reach,
        *,
        mode: str = "default",
        given: Mapping[str, object] | None = None,
        counted: Rules | None = None,
        cwd: str | None = None,
        protected: Sequence[str] = (),
    ) -> Decision:
        return decide(
            tool,
            reach,
            given or {},
            mode=mode,
            rules=counted or Rules(),
            project=self.project,
            cwd=cwd or self.project,
            home=str(self.root / "home"),
            protected=protected,
        )

    def shell(
        self,
        line: str,
        *,
        mode: str = "default",
        allow: Sequence[str] = (),
        deny: Sequence[str] = (),
        ask: Sequence[str] = (),
        cwd: str | None = None,
    ) -> Decision:
        counted = rules(allow=allow, deny=deny, ask=ask)
        return self.call("Bash", Reach(command=line), mode=mode, counted=counted, cwd=cwd)
