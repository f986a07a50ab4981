"""Remember what the person trusts of a project's own settings.

It is kept in clew's own state folder, not in the project: whoever can write there could say so for them. Each
thing is known by the digest of all of it, so that what is changed or added later is asked about again.
"""

from __future__ import annotations

import hashlib
import json
import os
from typing import TYPE_CHECKING, Final, cast

from clew.agent.setting_files import read_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from clew.agent.settings import Grant, Settings

_FOLDER: Final = "trust"
_WAIT: Final = 10.0


class Trust:
    """What the person has said about projects."""

    def __init__(self, state: Path) -> None:
        self._state = state

    def known(self, project: Path | str) -> frozenset[str]:
        """Return the digests of what is trusted. What cannot be read trusts nothing."""
        found, _ = read_json(str(self._file(project)))
        if not isinstance(found, dict):
            return frozenset()
        values = cast("dict[str, object]", found)
        listed = values.get("trusted")
        # Two paths with one digest do not occur; a file that was moved to another's place might.
        if values.get("project") != os.path.realpath(project) or not isinstance(listed, list):
            return frozenset()
        return frozenset(one for one in cast("list[object]", listed) if isinstance(one, str))

    def accept(self, project: Path | str, grants: Iterable[Grant]) -> None:
        """Remember that the person trusts these."""
        self._change(project, lambda old: old | {grant.digest for grant in grants})

    def forget(self, project: Path | str) -> None:
        """Trust nothing of a project any more."""
        self._change(project, lambda _: frozenset())

    def _file(self, project: Path | str) -> Path:
        name = hashlib.sha256(os.path.realpath(project).encode("utf-8", "surrogateescape")).hexdigest()[:32]
        return self._state / _FOLDER / f"{name}.json"

    def _change(self, project: Path | str, change: Callable[[frozenset[str]], frozenset[str]]) -> None:
        from clew.store.disk import DISK
        from clew.store.locks import hold
        from clew.store.state import make_private
        from clew.store.writer import prepare

        path = self._file(project)
        make_private(path.parent, DISK)
        with hold(str(path), state=self._state, wait=_WAIT):
            values = {"project": os.path.realpath(project), "trusted": sorted(change(self.known(project)))}
            temporary = f"{path}.{os.getpid()}.clew"
            prepare(temporary, [json.dumps(values).encode() + b"\n"], target=str(path))
            try:
                DISK.replace(temporary, str(path))
            except OSError:
                DISK.unlink(temporary)
                raise
            DISK.sync_folder(str(path.parent))


def settle(
    trust: Trust,
    settings: Settings,
    *,
    ask: Callable[[Sequence[Grant]], bool] | None,
    assume: bool = False,
) -> frozenset[str]:
    """Return the digests of what counts of a project's settings, asking about what is new.

    Without a terminal `ask` is None, and what is new does not count; unless `assume`, an option the person
    gave, says that it does for this time. Only a yes is remembered.
    """
    grants = settings.grants()
    if assume:
        return frozenset(grant.digest for grant in grants)
    known = trust.known(settings.project)
    fresh = [grant for grant in grants if grant.digest not in known]
    if fresh and ask is not None and ask(fresh):
        trust.accept(settings.project, fresh)
        known |= {grant.digest for grant in fresh}
    return known & {grant.digest for grant in grants}
