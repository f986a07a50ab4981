"""A browser for the tests of pages: the one on this machine, or one from npm, kept in the user's cache.

Nothing it does reaches the network: a request that is no file of the test and no data in the page is noted
and refused.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
import tarfile
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from tests.conformance.client import CACHE
from tests.debian import program

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from playwright.sync_api import Browser, Dialog, Page, Route

_CHROMIUM: Final = "@sparticuz/chromium@153.0.0"
_AXE: Final = "axe-core@4.14.0"
_NAMES: Final = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_UNPACK: Final = """
const fs = require("fs"), zlib = require("zlib");
const [from, to] = process.argv.slice(1);
for (const name of ["chromium.br", "al2023.tar.br"]) {
  const packed = fs.readFileSync(`${from}/${name}`);
  fs.writeFileSync(`${to}/${name.slice(0, -3)}`, zlib.brotliDecompressSync(packed));
}
"""


@dataclass(frozen=True, slots=True)
class Program:
    """A browser, and where the libraries are that it brought along."""

    path: Path
    libraries: Path | None = None


def find() -> Program:
    """The browser, installed if it is nowhere."""
    for name in _NAMES:
        if found := shutil.which(name):
            return Program(Path(found))
    if sys.platform == "linux" and platform.machine() == "x86_64" and shutil.which("npm"):
        return _from_npm()
    if found := program("chromium"):
        return Program(Path(found))
    pytest.skip("there is no chromium, and neither npm nor apt-get to get it with")


def _from_npm() -> Program:
    folder = CACHE.parent / "chromium" / _CHROMIUM.rpartition("@")[2]
    if not folder.is_dir():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".new-") as fresh:
            packed = _npm(_CHROMIUM, Path(fresh, "npm")) / "@sparticuz" / "chromium" / "bin"
            made = Path(fresh, "it")
            made.mkdir()
            node = shutil.which("node") or "node"
            subprocess.run([node, "-e", _UNPACK, str(packed), str(made)], check=True, timeout=300)
            with tarfile.open(made / "al2023.tar") as libraries:
                libraries.extractall(made, filter="data")
            (made / "al2023.tar").unlink()
            (made / "chromium").chmod(0o755)
            made.rename(folder)
    return Program(folder / "chromium", folder / "lib")


def _npm(package: str, folder: Path) -> Path:
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip(f"npm is needed to install {package}")
    options = ("--no-audit", "--no-fund", "--ignore-scripts", "--prefix", str(folder))
    subprocess.run([npm, "install", *options, package], capture_output=True, check=True, timeout=900)
    return folder / "node_modules"


def axe() -> str:
    """The source of axe-core, which looks for what keeps people from using a page."""
    folder = CACHE.parent / "axe-core" / _AXE.rpartition("@")[2]
    if not folder.is_dir():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".new-") as fresh:
            _npm(_AXE, Path(fresh, "it"))
            Path(fresh, "it").rename(folder)
    return (folder / "node_modules" / "axe-core" / "axe.min.js").read_text(encoding="utf-8")


@contextmanager
def browser(home: Path) -> Generator[Browser]:
    """A running browser whose own files are below a folder of the test."""
    from playwright.sync_api import sync_playwright

    program = find()
    env: dict[str, str | float | bool] = {"HOME": str(home), "PATH": os.environ.get("PATH", "")}
    if program.libraries is not None:
        env["LD_LIBRARY_PATH"] = str(program.libraries)
    # The pages are our own, and as root in a container there is no sandbox to be had.
    arguments = ["--no-sandbox", "--headless", "--disable-gpu", "--disable-dev-shm-usage"]
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=str(program.path), env=env, args=arguments)
        try:
            yield running
        finally:
            running.close()


WATCH: Final = """
window.__violations = [];
addEventListener("securitypolicyviolation", (event) => {
  window.__violations.push(`${event.violatedDirective} ${event.blockedURI}`);
});
window.__shift = 0;
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.__shift += entry.value;
}).observe({ type: "layout-shift", buffered: true });
"""


@dataclass
class Watched:
    """A page, and everything it did that a page should not."""

    page: Page
    dialogs: list[str] = field(default_factory=list[str])
    requests: list[str] = field(default_factory=list[str])
    complaints: list[str] = field(default_factory=list[str])
    popups: list[str] = field(default_factory=list[str])

    def misdeeds(self) -> list[str]:
        """All of it, what the policy stopped included."""
        stopped: list[str] = self.page.evaluate("window.__violations ?? []")
        return [*self.dialogs, *self.requests, *self.complaints, *self.popups, *stopped]

    def shift(self) -> float:
        """How much things moved by themselves."""
        return float(self.page.evaluate("window.__shift"))


@contextmanager
def watching(
    running: Browser,
    is_allowed: Callable[[str], bool],
    *,
    width: int = 1440,
    height: int = 1000,
    colours: str = "light",
    scripts: bool = True,
) -> Generator[Watched]:
    """A page that nothing was opened in yet, which is watched and asks for nothing but what is allowed."""
    context = running.new_context(
        viewport={"width": width, "height": height},
        color_scheme="dark" if colours == "dark" else "light",
        java_script_enabled=scripts,
        timezone_id="Europe/Berlin",
        locale="en-GB",
    )
    page = context.new_page()
    watched = Watched(page)

    def allow(route: Route) -> None:
        address = route.request.url
        if is_allowed(address):
            route.continue_()
        else:
            watched.requests.append(address)
            route.abort()

    def dismiss(dialog: Dialog) -> None:
        watched.dialogs.append(dialog.message)
        dialog.dismiss()

    page.route("**/*", allow)
    page.on("dialog", dismiss)
    page.on("console", lambda said: watched.complaints.append(said.text) if said.type == "error" else None)
    page.on("pageerror", lambda error: watched.complaints.append(str(error)))
    page.on("popup", lambda popup: watched.popups.append(popup.url))
    if scripts:
        page.add_init_script(WATCH)
    try:
        yield watched
    finally:
        context.close()


@contextmanager
def opened(
    running: Browser,
    path: Path,
    *,
    width: int = 1440,
    height: int = 1000,
    colours: str = "light",
    scripts: bool = True,
) -> Generator[Watched]:
    """Open a page of the disk and watch it."""
    own = path.resolve().as_uri()

    def is_own(address: str) -> bool:
        return address.partition("#")[0] == own or address.startswith("data:")

    with watching(running, is_own, width=width, height=height, colours=colours, scripts=scripts) as watched:
        watched.page.goto(own, wait_until="domcontentloaded")
        if scripts:
            _wait_until_drawn(watched.page)
        yield watched


def _wait_until_drawn(page: Page) -> None:
    """Wait for what stands on the screen first; a busy machine may take a while."""
    page.wait_for_load_state("load")
    has_items = page.evaluate(
        """() => {
            const turns = document.getElementById("turns")?.textContent ?? "[]";
            return document.getElementById("app") !== null && JSON.parse(turns).length > 0;
        }"""
    )
    if has_items:
        page.locator("#app .item").first.wait_for(state="attached")
    page.wait_for_timeout(150)
