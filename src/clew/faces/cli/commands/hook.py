"""`clew hook install|uninstall|status|plugin`: the hooks by which the client tells clew of every turn."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from clew.errors import UsageError
from clew.faces.cli import words
from clew.faces.cli.options import DAMAGED, Shared, shared
from clew.faces.cli.terminal import span

if TYPE_CHECKING:
    from clew.actions.hook_install import Change, Scope
    from clew.actions.hook_status import Ran, Settings, Status
    from clew.faces.cli.terminal import Part, Screen, Style

_LABEL: Final = 11
_MARKS: Final[dict[str, Style]] = {"+": "green", "-": "red", "@": "dim"}
_EXAMPLES: Final = """\b
Examples:
  clew hook status
  clew hook install --dry-run           show what would change in your settings
  clew hook install --statusline        hooks for all projects, and the status line
  clew hook install --local             for this project alone, not shared with others
  clew hook uninstall
  claude --plugin-dir "$(clew hook plugin)"
"""


@click.command("hook", epilog=_EXAMPLES)
@click.argument(
    "what",
    type=click.Choice(["status", "install", "uninstall", "plugin", "run"]),
    default="status",
    metavar="[status|install|uninstall|plugin|run]",
)
@click.argument("event", required=False, metavar="[EVENT]")
@click.option("--user", "scope", flag_value="user", help="Your own settings, for all projects (the default).")
@click.option("--project", "scope", flag_value="project", help="The settings of the project in this folder.")
@click.option("--local", "scope", flag_value="local", help="The same, for you alone (settings.local.json).")
@click.option("--statusline", is_flag=True, help="Set the status line too, if none is set.")
@click.option("--dry-run", is_flag=True, help="Show what would change, and change nothing.")
@shared
def command(
    common: Shared, what: str, event: str | None, scope: Scope | None, statusline: bool, dry_run: bool
) -> int:
    """Have the client tell clew of every turn, so that it is traced as soon as it ends.

    install adds hooks for SessionStart, Stop, SubagentStop and SessionEnd to the client's settings.json,
    shows what it changes and keeps the file as it was; everything else in it stays, to the byte. uninstall
    takes out exactly that. plugin prints a folder with the same hooks, and a skill for searching past
    sessions, as a plugin of the client. run is what the client runs: it takes a tenth of a second, prints
    nothing and never fails; a worker in the background does the sending. Where traces go is told by clew
    trace.

    JSON of status: {"installed", "settings": [{"scope", "path", "events": [], "commands": [],
    "missing_commands": [], "statusline", "disabled", "plugins": [], "problem"}], "endpoints": [], "notes":
    [], "waiting", "last_run": {"started", "ended", "transcripts", "turns_sent", "errors": []},
    "last_error", "log"}; of install and uninstall: {"path", "scope", "changed", "written", "diff": [],
    "backup", "notes": []}.
    """
    if event is not None and what != "run":
        raise UsageError(f"{what} takes no {event!r}", hint="clew hook --help")
    if (statusline and what != "install") or (dry_run and what not in {"install", "uninstall"}):
        raise UsageError(f"that option makes no sense with {what}", hint="clew hook --help")
    match what:
        case "install" | "uninstall":
            return _change(common, what, scope or "user", statusline=statusline, dry_run=dry_run)
        case "plugin":
            return _plugin(common)
        case "run":  # without a client there is nobody to be silent for; see `faces.hook.run`
            raise UsageError("clew hook run is for the client", hint="clew hook install")
        case _:
            return _status(common)


def _change(common: Shared, what: str, scope: Scope, *, statusline: bool, dry_run: bool) -> int:
    import os

    from clew.actions.hook_install import install, settings_path, this_command, uninstall
    from clew.actions.hook_status import hook_endpoints
    from clew.store.state import state_folder

    path, state = settings_path(scope, roots=common.roots), state_folder()
    if what == "install":
        done = install(
            path, scope, state=state, command=this_command(), statusline=statusline, dry_run=dry_run
        )
    else:
        done = uninstall(path, scope, state=state, dry_run=dry_run)
    if common.is_data:
        common.emit(done.as_dict())
    else:
        _show_change(common.screen, done, what, dry_run=dry_run)
        endpoints, notes = hook_endpoints(os.environ) if what == "install" else (("",), ())
        for note in notes:
            common.screen.note(span("note: ", "yellow"), note)
        if not endpoints:
            common.screen.note(
                "There is no endpoint yet, so nothing is sent: ", span("clew trace --help", "bold")
            )
    return 0


def _show_change(screen: Screen, done: Change, what: str, *, dry_run: bool) -> None:
    if not done.is_needed:
        said = "has clew's hooks already" if what == "install" else "has nothing of clew's"
        screen.print(span(done.path, "cyan"), f" {said}; nothing was changed.")
    for line in done.diff:
        style = _MARKS.get("" if line.startswith(("+++", "---")) else line[:1])
        screen.print(span(line, style) if style else line)
    for note in done.notes:
        screen.note(span("note: ", "yellow"), note)
    if done.is_done:
        screen.print(span("Changed ", "bold"), span(done.path, "cyan"), ".")
        if done.backup:
            screen.print(span(f"  As it was: {done.backup}", "dim"))
        if what == "install":
            screen.print(
                span("  Sessions that begin from now on are traced; clew hook status tells how.", "dim")
            )
    elif done.is_needed and dry_run:
        screen.print(span("Nothing was changed (--dry-run).", "dim"))


def _plugin(common: Shared) -> int:
    import clew.faces.hook

    folder = str(Path(clew.faces.hook.__file__).parent / "plugin")
    if common.is_data:
        common.emit({"path": folder})
    else:
        common.screen.print(folder)
    return 0


def _status(common: Shared) -> int:
    import os

    from clew.actions.hook_status import hook_status
    from clew.store.state import state_folder

    found = hook_status(os.environ, state=state_folder(), roots=common.roots)
    if common.is_data:
        common.emit(found.as_dict())
    else:
        _show_status(common.screen, found)
    return DAMAGED if any(one.problem or one.missing for one in found.settings) else 0


def _show_status(screen: Screen, found: Status) -> None:
    for one in found.settings:
        _line(screen, one.scope, *_of_settings(one))
    _line(screen, "endpoints", ", ".join(found.endpoints) or "none: nothing is sent anywhere")
    _line(screen, "waiting", words.count(found.waiting, "session") if found.waiting else "nothing")
    _line(screen, "last run", _of_run(found.last))
    if found.last_line:
        _line(screen, "log", found.last_line)
        screen.print(" " * _LABEL, span(found.log, "dim"))
    for note in found.notes:
        screen.note(span("note: ", "yellow"), note)
    if not found.is_installed:
        screen.note("The hooks are not in place: ", span("clew hook install", "bold"), " puts them there.")


def _of_settings(one: Settings) -> tuple[Part, ...]:
    path = span(f" ({one.path})", "dim")
    if one.problem:
        return span("! ", "yellow"), one.problem
    if one.found is None:
        return "no settings", path
    facts: list[str] = []
    if one.found.events:
        facts.append(f"hooks for {', '.join(one.found.events)}")
    facts += [f"the plugin {name}" for name in one.found.plugins]
    if one.found.is_statusline_ours:
        facts.append("the status line")
    if one.found.is_disabled:
        facts.append("all hooks turned off (disableAllHooks)")
    said = ", ".join(facts) or "nothing of clew's"
    if one.missing:
        return span("! ", "yellow"), f"{said}; but there is no {one.missing[0]}", path
    return said, path


def _of_run(last: Ran | None) -> str:
    from datetime import UTC, datetime

    if last is None:
        return "never"
    then = datetime.fromtimestamp(last.ended_ms / 1000, UTC)
    facts = [words.count(last.transcripts, "session"), f"{words.count(last.turns_sent, 'turn')} sent"]
    facts += last.errors[:2]
    return f"{words.iso(then)}: {', '.join(facts)}"


def _line(screen: Screen, label: str, *value: Part) -> None:
    screen.print(span(f"{label:<{_LABEL}}", "bold"), *value)
