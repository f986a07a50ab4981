"""The command line: find the command, run it, turn what it raises into words and an exit code."""

from __future__ import annotations

import importlib
import json
import sys
from typing import TYPE_CHECKING, cast

import click

from clew import __version__
from clew.errors import ClewError
from clew.faces.cli.help import top_help
from clew.faces.cli.registry import COMMANDS, module_of
from clew.faces.cli.terminal import ColorChoice, Screen, plain

if TYPE_CHECKING:
    from collections.abc import Sequence

INTERRUPTED = 130
_CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


class LazyGroup(click.Group):
    """A group whose commands are imported when they are run."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Return the names of the commands in the order of the help."""
        return [command.name for command in COMMANDS]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import a command."""
        if all(command.name != cmd_name for command in COMMANDS):
            return None
        module = importlib.import_module(module_of(cmd_name))
        return cast("click.Command", module.command)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find a command, and name the nearest where there is none of that name."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            from difflib import get_close_matches

            near = get_close_matches(args[0], self.list_commands(ctx), 1, 0.5) if args else []
            hint = f"clew {near[0]}" if near else "clew --help"
            raise click.UsageError(f"there is no command {args[0]!r}; try: {hint}", ctx) from error

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Write the same help that `clew --help` gives without importing anything."""
        formatter.write(top_help())


@click.group(cls=LazyGroup, context_settings=_CONTEXT, invoke_without_command=True)
@click.version_option(__version__, "-V", "--version", message="clew %(version)s")
@click.pass_context
def cli(ctx: click.Context) -> int | None:
    """Follow the thread of your Claude Code sessions."""
    if ctx.invoked_subcommand is None:
        command = cast("LazyGroup", ctx.command).get_command(ctx, "ls")
        if command is not None:
            return cast("int | None", ctx.invoke(command, **_defaults(command, ctx), newest=True))
    return None


def _defaults(command: click.Command, parent: click.Context) -> dict[str, object]:
    context = command.make_context(command.name, [], parent, resilient_parsing=False)
    return {name: value for name, value in context.params.items() if name != "newest"}


def run(arguments: Sequence[str]) -> int:
    """Run the command line and return its exit code."""
    screen = Screen(color=_color(arguments))
    wants_json = "--json" in arguments or "--jsonl" in arguments
    try:
        result = cli.main(args=list(arguments), prog_name="clew", standalone_mode=False)
        Screen().flush()
    except ClewError as error:
        _fail(screen, error.code, error.message, error.hint, as_json=wants_json)
        return error.exit_code
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except click.ClickException as error:
        hint = None
        if isinstance(error, click.UsageError) and error.ctx is not None and error.ctx.command.name != "cli":
            hint = f"{error.ctx.command_path} --help"
        _fail(screen, "usage", error.format_message(), hint, as_json=wants_json)
        return 1
    except (KeyboardInterrupt, click.Abort):
        return INTERRUPTED
    return result if isinstance(result, int) else 0


def _color(arguments: Sequence[str]) -> ColorChoice:
    """Return what `--color` says, before the arguments are read for good."""
    for at, argument in enumerate(arguments):
        name, _, value = argument.partition("=")
        if name == "--color":
            value = value or next(iter(arguments[at + 1 :]), "")
            return "never" if value == "never" else "always" if value == "always" else "auto"
    return "auto"


def _fail(screen: Screen, code: str, message: str, hint: str | None, *, as_json: bool) -> None:
    if as_json:
        document = {"error": {"code": code, "message": message, "hint": hint}}
        sys.stderr.write(plain(json.dumps(document, ensure_ascii=False)) + "\n")
        return
    screen.error(message, hint=hint)
