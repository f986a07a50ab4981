"""The law of the catalog: brought up to date equals built anew."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    MultipleResults,
    RuleBasedStateMachine,
    consumes,
    multiple,
    rule,
    run_state_machine_as_test,
)

from clew.catalog.catalog import Catalog, Options
from tests.catalog.stores import Tree, content, line, lines

NUMBERS = st.lists(st.integers(0, 200), min_size=0, max_size=12)
PROJECTS = st.sampled_from(["-home-ada-a", "-home-ada-b"])


class Law(RuleBasedStateMachine):
    """A store that lives, and its catalog that must follow."""

    files: Bundle[str] = Bundle("files")
    outputs: Bundle[str] = Bundle("outputs")

    def __init__(self) -> None:
        super().__init__()
        self._folder = Path(tempfile.mkdtemp(prefix="clew-law-"))
        self.tree = Tree(self._folder / "root")
        self.count = 0
        self.catalog = Catalog.open(self.tree.store(), cache=self._folder / "cache")
        self.torn: dict[str, bytes] = {}

    def teardown(self) -> None:
        self.catalog.close()
        shutil.rmtree(self._folder)

    def _name(self) -> str:
        self.count += 1
        return f"{self.count:08x}-1111-4111-8111-111111111111"

    @rule(target=files, project=PROJECTS, numbers=NUMBERS)
    def new_session(self, project: str, numbers: list[int]) -> str:
        name = f"{project}/{self._name()}.jsonl"
        self.tree.write(name, lines(numbers))
        return name

    @rule(target=files, of=files, numbers=NUMBERS)
    def new_agent_beside_its_session(self, of: str, numbers: list[int]) -> str:
        name = f"{of.removesuffix('.jsonl')}/subagents/agent-{self._name()[:8]}.jsonl"
        self.tree.write(name, lines(numbers))
        return name

    @rule(target=files, of=files, project=PROJECTS, numbers=NUMBERS)
    def new_agent_that_names_its_session(self, of: str, project: str, numbers: list[int]) -> str:
        name = f"{project}/agent-{self._name()[:8]}.jsonl"
        session = of.rpartition("/")[2].removesuffix(".jsonl")
        self.tree.write(name, b"".join(line(16 * number + 2, sessionId=session) for number in numbers))
        return name

    @rule(target=files, of=files, project=PROJECTS)
    def fork(self, of: str, project: str) -> Any:
        path = self.tree.path(of)
        if not path.exists():
            nothing: MultipleResults[str] = multiple()
            return nothing
        name = f"{project}/{self._name()}.jsonl"
        self.tree.write(name, path.read_bytes())
        return name

    @rule(name=files, numbers=NUMBERS)
    def append(self, name: str, numbers: list[int]) -> None:
        self.tree.append(name, self.torn.pop(name, b"") + lines(numbers))

    @rule(name=files, number=st.integers(0, 200), part=st.floats(0, 1))
    def append_part_of_a_line(self, name: str, number: int, part: float) -> None:
        data = self.torn.pop(name, b"") or line(number)
        at = int(len(data) * part)
        self.tree.append(name, data[:at])
        if data[at:]:
            self.torn[name] = data[at:]

    @rule(name=files, part=st.floats(0, 1), numbers=NUMBERS)
    def cut_and_write_on(self, name: str, part: float, numbers: list[int]) -> None:
        path = self.tree.path(name)
        if path.exists():
            self.tree.cut(name, int(path.stat().st_size * part), lines(numbers))

    @rule(name=files, numbers=NUMBERS)
    def replace(self, name: str, numbers: list[int]) -> None:
        self.tree.write(name, lines(numbers))
        self.torn.pop(name, None)

    @rule(name=consumes(files))
    def delete(self, name: str) -> None:
        self.tree.path(name).unlink(missing_ok=True)

    @rule(target=outputs, of=files, word=st.sampled_from(["gull 日本", "kettle\nlighthouse", ""]))
    def spill(self, of: str, word: str) -> str:
        name = f"{of.removesuffix('.jsonl')}/tool-results/{self._name()[:8]}.txt"
        self.tree.write(name, word.encode())
        return name

    @rule(name=outputs, word=st.sampled_from(["harbour", "naïve"]))
    def spill_again(self, name: str, word: str) -> None:
        self.tree.write(name, word.encode())

    @rule(name=consumes(outputs))
    def delete_output(self, name: str) -> None:
        self.tree.path(name).unlink(missing_ok=True)

    @rule(two=st.booleans(), batch=st.sampled_from([200, 5_000, 1 << 26]), details=st.booleans())
    def bring_up_to_date(self, two: bool, batch: int, details: bool) -> None:
        done = self.catalog.update(options=Options(jobs=1, batch=batch, two_stages=two, details=details))
        assert done.notes == ()

    @rule(two=st.booleans())
    def compare(self, two: bool) -> None:
        options = Options(jobs=1, details=True, two_stages=two)
        assert self.catalog.update(options=options).notes == ()
        with (
            tempfile.TemporaryDirectory(prefix="clew-law-") as cache,
            Catalog.open(self.tree.store(), cache=Path(cache)) as anew,
        ):
            anew.update(options=Options(jobs=1, details=True, two_stages=not two))
            assert content(self.catalog) == content(anew)
        assert self.catalog.update().files_read == 0


def _run(examples: int, steps: int) -> None:
    run_state_machine_as_test(
        Law,
        settings=settings(
            max_examples=examples,
            stateful_step_count=steps,
            deadline=None,
            suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
        ),
    )


def test_a_catalog_brought_up_to_date_equals_one_built_anew() -> None:
    _run(15, 20)


@pytest.mark.soak
def test_a_catalog_brought_up_to_date_equals_one_built_anew_over_thousands_of_steps() -> None:
    _run(200, 50)
