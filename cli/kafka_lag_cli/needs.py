# SPDX-License-Identifier: Apache-2.0
"""Packages that a subcommand needs beside those of every installation."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

import click

_LEAST_JAVA = 17
_GET_JAVA = "brew install --cask temurin@17 on macOS, apt install openjdk-17-jre-headless on Debian"
_GET_PROMETHEUS = "brew install prometheus on macOS, apt install prometheus on Debian"


class MissingError(click.ClickException):
    """Something that must be installed first; its text says what, and how."""

    exit_code = 2


def check_extra(subcommand: str, extra: str, name: str, *modules: str) -> None:
    """Raises MissingError unless the modules of an extra, which people call `name`, are there."""
    if not all(find_spec(module) for module in modules):
        raise MissingError(f"kafka-lag {subcommand} needs {name}: {how_to_add(extra)}")


def how_to_add(extra: str) -> str:
    """Returns what installs an extra.

    No package of an index is named: our name belongs to nobody there, so anybody may take it.
    """
    return (
        f"install kafka-lag again from where it came, with its extra {extra}, as in: "
        f"uv tool install '/path/to/checkout[{extra}]'"
    )


def check_prometheus() -> None:
    """Raises MissingError unless Prometheus and its tool can be started."""
    for program in ("promtool", "prometheus"):
        if shutil.which(program) is None:
            raise MissingError(
                f"Alert rules are judged by Prometheus, and {program} was not found: "
                f"{_GET_PROMETHEUS}."
            )


def check_java(subcommand: str, environ: Mapping[str, str]) -> None:
    """Raises MissingError unless Spark can run on the Java that it will find."""
    home = environ.get("JAVA_HOME")
    program = str(Path(home) / "bin" / "java") if home else "java"
    found = _java_version(program, environ)
    if found is not None and found >= _LEAST_JAVA:
        return
    where = f" in JAVA_HOME ({home})" if home else ""
    state = f"was not found{where}" if found is None else f"is {found}{where}"
    raise MissingError(
        f"kafka-lag {subcommand} needs Java {_LEAST_JAVA} or newer and Java {state}: {_GET_JAVA}."
    )


def _java_version(program: str, environ: Mapping[str, str]) -> int | None:
    """Returns the major version; null if Java is missing or does not run, as macOS' stub."""
    path = shutil.which(program, path=environ.get("PATH"))
    if path is None:
        return None
    try:
        done = subprocess.run(
            [path, "-version"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=60,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    # Java 8 calls itself 1.8.
    version = re.search(r'version "(?:1\.)?(\d+)', done.stdout)
    return int(version.group(1)) if version and done.returncode == 0 else None
