"""Nothing but the disk writes: what went past it could not be made to fail by a test."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import clew

PACKAGE = Path(clew.__file__).parent
ROOMS = ("store", "edit", "actions", "faces")
# The catalog keeps a database of its own, that can be made again at any time.

ALLOWED = {
    "store/disk.py": "it is the door",
    "store/live.py": "looks at the flags by which another process opened a file",
    "actions/demo.py": "writes made-up sessions into a folder of the user's choice",
    "actions/hook_spool.py": "adds a line to a spool while the client waits: the disk takes longer to import",
    "actions/sql.py": "makes an index for one query in a folder of the system's own",
    "actions/sql_parquet.py": "writes the file that the user names for an answer",
    "faces/cli/commands/demo.py": "makes a folder for made-up sessions, for a while",
    "faces/cli/commands/fake_api.py": "sees whether the log that the user names can be written",
    "faces/cli/terminal.py": "puts the null device in the place of a closed output",
    "faces/hook/run.py": "opens the null device, so that the client hears nothing",
}

METHODS = frozenset(
    (
        *("write_bytes", "write_text", "touch", "mkdir", "makedirs", "rename", "renames", "unlink"),
        *("removedirs", "rmdir", "symlink_to", "symlink", "hardlink_to", "link", "chmod", "fchmod", "lchmod"),
        *("chown", "fchown", "truncate", "ftruncate", "mkfifo", "mknod", "utime", "pwrite", "writev"),
        *("sendfile", "copy_file_range"),
    )
)
# Others have a `remove` and a `replace` too; a path's takes one thing.
FLAGS = frozenset({"O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC", "O_APPEND"})
MODULES = frozenset({"shutil", "tempfile"})
OWNERS = frozenset({"disk", "DISK", "self", "super()", "self.disk", "self._disk"})


def writes(source: str) -> list[tuple[int, str]]:
    """What in a module could write a file past the disk: line and name."""
    found: list[tuple[int, str]] = []
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Call(ast.Attribute(owner, name), arguments):
                by = ast.unparse(owner)
                is_path = name == "replace" and len(arguments) == 1 and not node.keywords
                is_os = by == "os" and name in {"replace", "remove"}
                if is_path or is_os or (name in METHODS and by not in OWNERS):
                    found.append((node.lineno, f"{by}.{name}"))
                elif name == "open" and by not in {"os", "Catalog"} and _is_to_write(arguments[:1], node):
                    found.append((node.lineno, f"{by}.open"))
                elif name == "fdopen" and _is_to_write(arguments[1:2], node):
                    found.append((node.lineno, "fdopen"))
            case ast.Call(ast.Name("open"), arguments) if _is_to_write(arguments[1:2], node):
                found.append((node.lineno, "open"))
            case ast.Attribute(_, name) if name in FLAGS:
                found.append((node.lineno, name))
            case ast.Constant(str(name)) if name in FLAGS:
                found.append((node.lineno, name))
            case ast.Import(names) if MODULES & {alias.name for alias in names}:
                found.append((node.lineno, "import"))
            case ast.ImportFrom(module) if module in MODULES:
                found.append((node.lineno, f"from {module}"))
            case _:
                continue
    return found


def _is_to_write(mode: list[ast.expr], node: ast.Call) -> bool:
    named = [keyword.value for keyword in node.keywords if keyword.arg == "mode"]
    match [*mode, *named]:
        case [ast.Constant(str(text))]:
            return bool(set(text) & set("wax+")) and len(text) < 5
        case _:
            return False


@pytest.mark.parametrize("room", ROOMS)
def test_only_the_disk_writes(room: str) -> None:
    modules = sorted((PACKAGE / room).rglob("*.py"))
    assert modules
    past: list[str] = []
    for path in modules:
        name = str(path.relative_to(PACKAGE))
        if name not in ALLOWED:
            past += [f"{name}:{line} {what}" for line, what in writes(path.read_text("utf-8"))]
    assert past == []


@pytest.mark.parametrize("name", list(ALLOWED))
def test_each_exception_is_still_one(name: str) -> None:
    assert writes((PACKAGE / name).read_text("utf-8"))


@pytest.mark.parametrize(
    "line",
    [
        "open(p, 'w')",
        "open(p, mode='ab')",
        "Path(p).open('r+b')",
        "os.fdopen(d, 'wb')",
        "p.write_bytes(b'')",
        "p.write_text('')",
        "os.replace(a, b)",
        "p.replace(q)",
        "os.rename(a, b)",
        "os.remove(p)",
        "p.unlink()",
        "os.link(a, b)",
        "os.open(p, os.O_WRONLY)",
        "getattr(os, 'O_CREAT')",
        "import shutil",
        "from tempfile import mkstemp",
        "os.makedirs(p)",
        "p.chmod(0o600)",
    ],
)
def test_what_writes_is_found(line: str) -> None:
    assert writes(line)


@pytest.mark.parametrize(
    "line",
    [
        "open(p)",
        "open(p, 'rb')",
        "p.open()",
        "text.replace('a', 'b')",
        "time.replace(tzinfo=None)",
        "disk.replace(a, b)",
        "self.disk.unlink(p)",
        "os.open(p, os.O_RDONLY)",
        "found.remove(one)",
        "Catalog.open(store)",
    ],
)
def test_what_does_not_write_is_not(line: str) -> None:
    assert not writes(line)
