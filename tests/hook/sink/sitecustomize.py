"""Put a sink in the place of `clew.actions.tracing` in every Python that is started with this on its path.

It writes down what it is called with, one JSON document a line, and does as CLEW_TEST_SINK_MODE says.
"""

from __future__ import annotations

import sys
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import spec_from_loader
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

NAME = "clew.actions.tracing"


def send_transcripts(
    paths: Sequence[tuple[str, str | None]],
    *,
    environ: dict[str, str],
    deadline: float,
    settle: object,
    **_: object,
) -> object:
    """Note the call, as the mode says it."""
    import json
    import os
    import time
    from pathlib import Path

    from clew.actions.tracing import Failure, Sending  # pyright: ignore[reportMissingImports]

    for path, _session in paths:
        if callable(settle):
            settle(path)
    mode = environ.get("CLEW_TEST_SINK_MODE", "ok")
    inside = Path(environ["CLEW_TEST_SINK"] + ".inside")
    try:
        os.close(os.open(inside, os.O_CREAT | os.O_EXCL))
        is_alone = True
    except FileExistsError:
        is_alone = False
    time.sleep(float(environ.get("CLEW_TEST_SINK_SLEEP", "0")))
    note = {
        "pid": os.getpid(),
        "alone": is_alone,
        "paths": [[path, session, Path(path).stat().st_size] for path, session in paths],
        "sid": os.getsid(0),
        "group": os.getpgrp(),
        "open": [str(each.readlink()) for each in Path("/proc/self/fd").iterdir() if each.exists()],
        "folder": str(Path.cwd()),
    }
    with Path(environ["CLEW_TEST_SINK"]).open("a") as file:
        file.write(json.dumps(note) + "\n")
    inside.unlink(missing_ok=True)
    if mode == "hang":
        time.sleep(max(0.0, deadline - time.monotonic()))
        return Sending(failed=(Failure("sink", "it hangs"),), endpoints=1)
    if mode == "down":
        return Sending(failed=(Failure("sink", "it is down"),), endpoints=1)
    return Sending(turns_sent=len(paths), endpoints=1)


class _Sink(MetaPathFinder, Loader):
    def find_spec(self, fullname: str, *_: object) -> ModuleSpec | None:
        return spec_from_loader(fullname, self) if fullname == NAME else None

    def exec_module(self, module: ModuleType) -> None:
        spec = PathFinder.find_spec(NAME, [str(part) for part in sys.modules["clew.actions"].__path__])
        assert spec is not None
        assert spec.loader is not None
        spec.loader.exec_module(module)
        module.send_transcripts = send_transcripts  # pyright: ignore[reportAttributeAccessIssue]


sys.meta_path.insert(0, _Sink())
