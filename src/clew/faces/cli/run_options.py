"""The options that `clew run` and `clew chat` share."""

from __future__ import annotations

from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, NamedTuple, ParamSpec, cast

import click

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from clew.actions.run_requests import RunRequest
    from clew.faces.cli.options import Shared

P = ParamSpec("P")
_MODES = ("default", "acceptEdits", "plan", "dontAsk", "bypassPermissions")


class RunOptions(NamedTuple):
    """How a session is to be run."""

    resume: str | None
    at: str | None
    fork: bool
    model: str | None
    mode: str | None
    allow: tuple[str, ...]
    deny: tuple[str, ...]
    add_dir: tuple[str, ...]
    max_turns: int | None
    max_cost: float | None
    base_url: str | None
    context_window: int | None
    system: str | None
    no_sandbox: bool
    trust_project: bool
    progress_lines: bool
    session_id: str | None
    force: bool

    def request(self, roots: tuple[Path, ...], *, is_interactive: bool) -> RunRequest:
        """Return what is asked for."""
        from clew.actions.run_requests import RunRequest

        return RunRequest(
            cwd=Path.cwd(),
            roots=roots,
            resume=self.resume,
            at=self.at,
            fork=self.fork,
            model=self.model,
            permission_mode=self.mode,
            allow=self.allow,
            deny=self.deny,
            folders=tuple(str(Path(one).resolve()) for one in self.add_dir),
            max_turns=self.max_turns,
            max_cost=self.max_cost,
            base_url=self.base_url,
            window=self.context_window,
            more_system=self.system,
            sandbox=not self.no_sandbox,
            trust_project=self.trust_project,
            session_id=self.session_id,
            force=self.force,
            is_interactive=is_interactive,
            progress_lines=self.progress_lines,
        )


_FOLDER = click.Path(exists=True, file_okay=False)
_SPENT = click.FloatRange(0, min_open=True)


def _options() -> Iterable[Callable[[Callable[..., int | None]], Callable[..., int | None]]]:
    def flag(name: str, text: str) -> Callable[[Callable[..., int | None]], Callable[..., int | None]]:
        return click.option(name, is_flag=True, help=text)

    def option(
        name: str, metavar: str | None, text: str, **more: Any
    ) -> Callable[[Callable[..., int | None]], Callable[..., int | None]]:
        return click.option(name, metavar=metavar, help=text, **more)

    yield option("--resume", "S", "Go on with this session: id, title, @1…")
    yield option("--at", "UUID", "Go on from this line of it; what came later stays, on a branch.")
    yield flag("--fork", "Go on with a copy, in the folder you are in.")
    yield option("--model", "M", "The model to ask. Without: the session's, or your settings'.")
    yield option("--mode", None, "What may be done without asking.", type=click.Choice(_MODES))
    yield option("--allow", "RULE", 'Allow calls: "Bash(npm test:*)", Edit, …', multiple=True)
    yield option("--deny", "RULE", "Forbid calls, whatever else allows them.", multiple=True)
    yield option("--add-dir", "DIR", "Work in this folder too.", multiple=True, type=_FOLDER)
    yield option("--max-turns", "N", "At most so many requests for a prompt.", type=click.IntRange(1))
    yield option("--max-cost", "USD", "Make no request when this is spent.", type=_SPENT)
    yield option("--base-url", "URL", "Where the API is. Without: ANTHROPIC_BASE_URL.")
    text = "Tokens the model can read; near that the conversation is summed up."
    yield option("--context-window", "N", text, type=click.IntRange(1000))
    yield option("--system", "TEXT", "Added to what the model is told first.")
    yield flag("--no-sandbox", "Run commands without bubblewrap.")
    yield flag("--trust-project", "Let the project's own rules, hooks and servers count this time.")
    yield flag("--progress-lines", "Write what calls do while they run into the session too.")
    yield option("--session-id", "UUID", "The id of a new session.")
    yield flag("--force", "Go on though another program has the session open.")


def run_options(
    function: Callable[Concatenate[Shared, RunOptions, P], int | None],
) -> Callable[Concatenate[Shared, P], int | None]:
    """Give a command these options, as one value, behind the shared ones."""

    @wraps(function)
    def with_options(common: Shared, *args: P.args, **kwargs: P.kwargs) -> int | None:
        given = cast("dict[str, Any]", kwargs)
        options = RunOptions(**{name: given.pop(name) for name in RunOptions._fields})
        return function(common, options, *args, **kwargs)

    found: Callable[..., int | None] = with_options
    for option in reversed([*_options()]):
        found = option(found)
    return found
