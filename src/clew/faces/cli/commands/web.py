"""`clew web`: the web app, on this machine alone."""

from __future__ import annotations

import contextlib
import sys
from typing import TYPE_CHECKING, Final

import click

from clew.faces.cli.options import Shared, shared

if TYPE_CHECKING:
    from clew.faces.web.server import Server

_EXAMPLES: Final = """\b
Examples:
  clew web
  clew web --read-only --no-open
  clew web --port 8412 --root ~/.claude
"""


@click.command("web", epilog=_EXAMPLES)
@click.option("--port", type=click.IntRange(0, 65535), default=0, metavar="N", help="A free one without.")
@click.option("--no-open", is_flag=True, help="Do not open the browser.")
@click.option("--read-only", is_flag=True, help="Change nothing: no edits, and no undo.")
@shared
def command(common: Shared, port: int, no_open: bool, read_only: bool) -> int:
    """Read, search and mend sessions in the browser, on this machine alone.

    The server listens on 127.0.0.1. It prints one line, its address; that lets one browser in, once. Nothing
    is sent anywhere. Ctrl-C ends it. With a port of your choice a page that is open comes back after a
    restart.
    """
    from clew.errors import UsageError
    from clew.store.state import state_folder

    try:
        from clew.faces.web.server import Server
        from clew.faces.web.site import Site
    except ModuleNotFoundError as error:
        if error.name not in {"starlette", "uvicorn", "h11"}:
            raise
        raise UsageError(f"clew web needs {error.name}", hint="pip install 'clew[web]'") from None
    site = Site(
        common.roots,
        read_only=read_only,
        use_index=not common.no_index,
        jobs=common.jobs,
        log=common.screen.note if common.is_verbose else None,
    )
    server = Server(site, port=port, state=state_folder())
    _start_processes_apart()

    def ready() -> None:
        _tell(common, server)
        if not no_open:
            _open(server)

    with contextlib.suppress(KeyboardInterrupt):
        server.run(ready=ready)
    return 0


def _start_processes_apart() -> None:
    """Have other processes start clean: a copy of one with threads in it may hang on their locks."""
    import multiprocessing

    if "forkserver" in multiprocessing.get_all_start_methods():
        multiprocessing.set_start_method("forkserver", force=True)


def _tell(common: Shared, server: Server) -> None:
    """Say where it is, at once and on one line: whoever started it waits for this."""
    if common.is_data:
        from clew.format.json_pieces import whole

        common.screen.json(whole({"url": server.url, "port": server.port}))
    else:
        common.screen.print(server.url)
    common.screen.flush()
    sys.stdout.flush()


def _open(server: Server) -> None:
    import threading
    import webbrowser

    from clew.errors import ClewError

    try:
        where = server.way_in()
    except (ClewError, OSError):  # then the printed address it is
        return
    # It may wait for a browser that takes long to start.
    threading.Thread(target=webbrowser.open, args=(where,), daemon=True).start()
