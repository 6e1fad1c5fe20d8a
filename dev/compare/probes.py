# SPDX-License-Identifier: Apache-2.0
"""Two probes side by side, each step of the one held against the other's."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path

from dev.compare.checkouts import Checkout
from dev.compare.differences import Difference, Rules, compare
from dev.compare.orders import Orders
from dev.compare.steps import Step, read

_LAST_WORDS = 3_000


class ProbeError(Exception):
    """A commit over which the input could not be run; the message has its last words."""


def compared(
    pair: tuple[Checkout, Checkout],
    orders: Orders,
    work: Path,
    rules: Rules,
    progress: Callable[[Step], None],
) -> Iterator[Difference]:
    """All differences, in the order of the input. Raises ProbeError."""
    with ExitStack() as stack:
        probes = [
            stack.enter_context(Probe(checkout, orders, work / name))
            for checkout, name in zip(pair, ("old", "new"), strict=True)
        ]
        for old, new in zip_longest(*(probe.steps() for probe in probes)):
            if old is None or new is None or old.name != new.name:
                raise ProbeError(f"one has {old and old.name!r}, the other {new and new.name!r}")
            progress(new)
            if old.parts != new.parts:
                yield from compare(old, new, rules)


class Probe:
    """A context manager: the commit's process over the input, its own folder below `work`."""

    def __init__(self, checkout: Checkout, orders: Orders, work: Path) -> None:
        self._checkout = checkout
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir(parents=True)
        self._log = work / "probe.log"
        self._orders = work / "orders.json"
        state = work / "state"
        self._orders.write_text(json.dumps(replace(orders, folder=str(state)).to_json()))
        state.mkdir()
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Probe:
        command = [*self._checkout.command("dev.compare.probe"), str(self._orders)]
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                command,
                cwd=self._orders.parent,
                env=self._checkout.environment(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
            )
        return self

    def __exit__(self, *_: object) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.kill()
            self._process.wait()

    def steps(self) -> Iterator[Step]:
        """What it says, until it ends well. Raises ProbeError where it does not."""
        process = self._process
        if process is None or process.stdout is None:
            raise ProbeError("the probe has not been started")
        try:
            yield from read(process.stdout)
        except (EOFError, ValueError) as error:
            raise ProbeError(f"{self._checkout.commit[:9]}: {error}\n{self._words()}") from error
        if process.wait():
            raise ProbeError(f"{self._checkout.commit[:9]} failed:\n{self._words()}")

    def _words(self) -> str:
        return self._log.read_text(errors="replace")[-_LAST_WORDS:]
