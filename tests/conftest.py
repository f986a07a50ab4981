"""What holds for every test: a home of its own, and nothing opened outside the places a test may touch."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

settings.register_profile(
    "clew", deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
settings.load_profile("clew")

ROOT = Path(__file__).resolve().parent.parent
_REAL_HOME = Path.home().resolve()
_CACHE = Path(os.environ.get("XDG_CACHE_HOME") or _REAL_HOME / ".cache").resolve()
# Reading programs, libraries and the system is fine anywhere; a home is not.
_HOMES = tuple({str(_REAL_HOME), "/home", "/Users"})
_ALLOWED = tuple(
    str(place)
    for place in (
        ROOT,
        _CACHE,
        Path(tempfile.gettempdir()).resolve(),
        Path(sys.prefix).resolve(),
        Path(sys.base_prefix).resolve(),
    )
)

_outside: list[str] = []


def _watch(event: str, args: tuple[object, ...]) -> None:
    """Note every file opened under a home that is neither the project's nor the interpreter's."""
    if event not in {"open", "os.listdir", "os.scandir"} or not args:
        return
    path = args[0]
    if isinstance(path, bytes):
        path = os.fsdecode(path)
    if not isinstance(path, str) or not path.startswith("/"):
        return
    if path.startswith(_HOMES) and not path.startswith(_ALLOWED):
        _outside.append(path)


sys.addaudithook(_watch)


@pytest.fixture(autouse=True)
def _alone(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:  # pyright: ignore[reportUnusedFunction]  # used by pytest
    """Give the test a home of its own and fail it if it looked into another."""
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(home / "cache"))
    for name in ("NO_COLOR", "COLUMNS", "FORCE_COLOR", "CLEW_COLOR"):
        monkeypatch.delenv(name, raising=False)
    _outside.clear()
    yield
    assert not _outside, f"opened outside the test's own folders: {_outside[:5]}"


_PLATFORM = ("root reads everything", "needs a path in the way", "asks Linux for the peak", "needs /dev/full",
             "needs a pseudo-terminal", "no fork here", "no forkserver here")  # fmt: skip
"""Why a test may be skipped where everything is installed: the system itself lacks what it is about."""


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,  # pytest goes by the names
    call: pytest.CallInfo[None],
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """In CI a test that was skipped for want of a component has failed."""
    report = yield
    if report.skipped and os.environ.get("CI") == "true" and not hasattr(report, "wasxfail"):
        reason = str(call.excinfo.value if call.excinfo else "")
        if not any(known in reason for known in _PLATFORM):
            report.outcome = "failed"
            report.longrepr = f"skipped, which nothing may be here: {reason}"
    return report
