# SPDX-License-Identifier: Apache-2.0
"""A commit's files in a folder, an interpreter with the libraries of its lock file, and its probe.

The interpreter is this one where the lock files name the same libraries; nothing is installed then.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tomllib
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import Path
from typing import Any

from dev.compare.differences import Difference, Rules, compare
from dev.compare.orders import Orders, Step, read
from dev.compare.probe.layout import source_roots
from kafka_lag_cdk.packaging import find_uv

ROOT = Path(__file__).parents[2]
_PROJECT, _LOCK = "msk-lag-reporter", "uv.lock"


class CheckoutError(Exception):
    """A commit that there is not, or whose libraries cannot be installed."""


@dataclass(frozen=True, slots=True)
class Checkout:
    """A commit, full hash; where it lies; and what its code runs with."""

    commit: str
    folder: Path
    python: Path
    libraries: Path

    def environment(self) -> dict[str, str]:
        """In which the commit's own packages are imported, and no editable install's.

        Run with -S: site-packages are on the path without the .pth files in them.
        """
        roots = [*source_roots(self.folder), ROOT, self.libraries]
        # Synthesis packs the job's pure dependencies, and uv brings them.
        uv = find_uv()
        tools = [str(Path(uv).parent)] if uv else []
        return os.environ | {
            "PATH": os.pathsep.join([os.environ.get("PATH", os.defpath), *tools]),
            "PYTHONPATH": os.pathsep.join(map(str, roots)),
            "PYTHONDONTWRITEBYTECODE": "",
            "PYSPARK_PYTHON": str(self.python),
            "JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION": "20",
        }

    def command(self, module: str) -> list[str]:
        """That runs a module of this tool inside the checkout."""
        return [str(self.python), "-S", "-m", module]


def resolve(name: str, repository: Path = ROOT) -> str:
    """The full hash of a commit by any of its names. Raises CheckoutError."""
    wanted = f"{name}^{{commit}}"
    done = _git(repository, "rev-parse", "--verify", "--quiet", "--end-of-options", wanted)
    if done.returncode:
        raise CheckoutError(f"There is no commit {name!r} here.")
    return done.stdout.decode().strip()


def check_out(
    commit: str, folder: Path, say: Callable[[str], None], repository: Path = ROOT
) -> Checkout:
    """The commit's files below `folder`, unpacked there unless they are. Raises CheckoutError."""
    place = folder / commit
    if not place.exists():
        say(f"{commit[:9]}: unpacking")
        _unpack(commit, place, repository)
    python, libraries = _libraries(place, say)
    return Checkout(commit, place, python, libraries)


def _unpack(commit: str, place: Path, repository: Path) -> None:
    draft = place.with_name(f".{place.name}")
    shutil.rmtree(draft, ignore_errors=True)
    draft.mkdir(parents=True)
    archive = draft.with_suffix(".tar")
    try:
        done = _git(repository, "archive", "--format=tar", f"--output={archive}", commit)
        if done.returncode:
            raise CheckoutError(f"{commit} cannot be unpacked: {done.stderr.decode().strip()}")
        shutil.unpack_archive(archive, draft, "tar", filter="data")
    finally:
        archive.unlink(missing_ok=True)
    draft.rename(place)


def _git(repository: Path, *words: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(["git", "-C", str(repository), *words], capture_output=True, check=False)


def _libraries(place: Path, say: Callable[[str], None]) -> tuple[Path, Path]:
    """An interpreter, and the site-packages it needs."""
    ours = Path(sys.executable), Path(sysconfig.get_path("purelib"))
    if _locked(place) == _locked(ROOT):
        return ours
    own = place.with_name(f"{place.name}.venv")
    if not own.exists():
        say(f"{place.name[:9]}: installing what its lock file names")
        _install(place, own)
    (libraries,) = own.glob("lib/python3*/site-packages")
    return own / "bin" / "python", libraries


def _locked(place: Path) -> Any:
    """What a lock file installs beside the project itself; None without one."""
    if not (place / _LOCK).exists():
        return None
    packages = tomllib.loads((place / _LOCK).read_text())["package"]
    return sorted((p["name"], p["version"]) for p in packages if p["name"] != _PROJECT)


def _install(place: Path, own: Path) -> None:
    uv = find_uv()
    if uv is None:
        raise CheckoutError("uv is needed to install another lock file's libraries: make setup.")
    project = tomllib.loads((place / "pyproject.toml").read_text())["project"]
    extras = ["--all-extras", "--all-groups"] if "optional-dependencies" in project else []
    command = [uv, "sync", "--quiet", "--frozen", *extras, "--python", sys.executable]
    environment = os.environ | {"UV_PROJECT_ENVIRONMENT": str(own)}
    done = subprocess.run(
        command, cwd=place, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        shutil.rmtree(own, ignore_errors=True)
        raise CheckoutError(f"{place.name[:9]}: uv sync failed: {done.stderr.strip()}")


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
