# SPDX-License-Identifier: Apache-2.0
"""Wheels of another machine, unpacked in a folder: by uv, else by pip, else by pip in Docker."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from kafka_lag_cdk.packaging.target import PackagingError, Target

# A command's exit code, and what it said on stderr.
Run = Callable[[Sequence[str]], tuple[int, str]]
# A program's path, or None when this machine lacks it.
Find = Callable[[str], str | None]

# `make setup` puts a uv here where the PATH has none.
_TOOLS = Path(__file__).parents[4] / ".local" / "tools" / "bin"
_SAID = 600


def _run(command: Sequence[str]) -> tuple[int, str]:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stderr


def find_program(program: str) -> str | None:
    """Where a program is; for pip the interpreter that has it, as `python -m pip` needs."""
    if program == "pip":
        return sys.executable if importlib.util.find_spec("pip") else None
    return shutil.which(program, path=os.pathsep.join([os.environ.get("PATH", ""), str(_TOOLS)]))


def fetch(
    target: Target, requirements: Path, folder: Path, *, run: Run = _run, find: Find = find_program
) -> None:
    """Unpacks the wheels of `requirements`, which has a hash for each, into the empty `folder`.

    Nothing is built from source. Raises PackagingError with what each of the three answered.
    """
    refusals = []
    for name, program, command in _ways(target, requirements, folder, find):
        if program is None:
            refusals.append(f"{name} is not installed")
            continue
        code, said = run([program, *command])
        if code == 0:
            return
        refusals.append(f"{name} failed: {_end(said) or f'exit code {code}'}")
        # What one has left must not mix with what the next one brings.
        _empty(folder)
    raise PackagingError(
        f"The packages for Python {target.python} on {target.architecture} could not be fetched. "
        f"{'; '.join(refusals)}. Install uv or pip, and see that uv.lock has wheels for this "
        "version and that the package index can be reached."
    )


def _ways(
    target: Target, requirements: Path, folder: Path, find: Find
) -> Iterator[tuple[str, str | None, list[str]]]:
    yield "uv", find("uv"), _uv(target, requirements, folder)
    yield "pip", find("pip"), ["-m", *_pip(target, str(requirements), str(folder))]
    yield "Docker", find("docker"), _docker(target, requirements, folder)


def _uv(target: Target, requirements: Path, folder: Path) -> list[str]:
    wheels = ["--python-platform", f"{target.machine}-manylinux_2_28", "--only-binary", ":all:"]
    return [
        *("pip", "install", "--quiet", "--no-deps", "--require-hashes", *wheels),
        *("--python", sys.executable, "--python-version", target.python),
        *("--target", str(folder), "--requirements", str(requirements)),
    ]


def _pip(target: Target, requirements: str, folder: str) -> list[str]:
    # Each platform by itself lacks wheels that the other has: pyarrow is 2_28, others are 2014.
    platforms = [f"manylinux_2_28_{target.machine}", f"manylinux2014_{target.machine}"]
    return [
        *("pip", "install", "--quiet", "--no-deps", "--require-hashes", "--no-compile"),
        *("--disable-pip-version-check", "--only-binary=:all:", "--implementation", "cp"),
        *(word for platform in platforms for word in ("--platform", platform)),
        *("--python-version", target.python, "--target", folder, "--requirement", requirements),
    ]


def _docker(target: Target, requirements: Path, folder: Path) -> list[str]:
    # pip fetches for the target wherever it runs, so the image may be this machine's.
    image = f"public.ecr.aws/sam/build-python{target.python}"
    mounts = ["--volume", f"{requirements.absolute()}:/requirements.txt:ro"]
    mounts += ["--volume", f"{folder.absolute()}:/packages"]
    owner = ["--user", f"{os.getuid()}:{os.getgid()}", "--env", "HOME=/tmp"]
    pip = _pip(target, "/requirements.txt", "/packages")
    return ["run", "--rm", *owner, *mounts, image, "python", "-m", *pip]


def _end(said: str) -> str:
    """The end of what a command wrote, on one line; without the hashes that uv lists in it."""
    words = [word for word in said.split() if not word.startswith("sha256:")]
    return " ".join(words)[-_SAID:].rstrip(". ")


def _empty(folder: Path) -> None:
    for path in folder.iterdir():
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()
