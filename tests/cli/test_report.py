# SPDX-License-Identifier: Apache-2.0
"""`kafka-lag report`: its prerequisites, and its errors.

tests/infra/storage/queries tests its reports and output.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from kafka_lag.snapshots.store import FolderStore, write_snapshot
from kafka_lag_cli.needs import how_to_add
from kafka_lag_cli.report import report, stderr_in
from tests.builders import MINUTE, NOON, a_snapshot


def run(*arguments: object, **more: Any) -> Result:
    return CliRunner().invoke(report, [str(each) for each in arguments], prog_name="report", **more)


def error(*arguments: object, code: int, **more: Any) -> str:
    """The sentence of a run that fails, the last line of stderr."""
    result = run(*arguments, **more)
    assert (result.exit_code, result.stdout) == (code, ""), result.output
    return result.stderr.splitlines()[-1].removeprefix("Error: ")


@pytest.fixture(name="state")
def _state(tmp_path: Path) -> Path:
    folder = tmp_path / "state"
    for minute in range(3):
        at = NOON + minute * MINUTE
        snapshot = a_snapshot({"billing": {"orders": [5]}}, {"orders": [(0, 7)]}, at=at)
        write_snapshot(FolderStore(folder), "shop", snapshot)
    return folder


def test_without_spark_it_is_said_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch, state: Path
) -> None:
    monkeypatch.setitem(sys.modules, "pyspark", None)

    assert error("--state", state, code=2) == (
        f"kafka-lag report needs Spark: {how_to_add('report')}"
    )


def test_without_java_it_is_said_how_to_get_it(state: Path, tmp_path: Path) -> None:
    nowhere = {"PATH": str(tmp_path), "JAVA_HOME": ""}

    said = error("--state", state, code=2, env=nowhere)

    assert said.startswith("kafka-lag report needs Java 17 or newer and Java was not found: brew")


@pytest.mark.parametrize(
    ("said", "code", "found"),
    [
        ('openjdk version "11.0.2" 2019-01-15', 0, "Java is 11 in JAVA_HOME"),
        ('java version "1.8.0_402"', 0, "Java is 8 in JAVA_HOME"),
        ("Unable to locate a Java Runtime.", 1, "Java was not found in JAVA_HOME"),
        ('openjdk version "17.0.1" that breaks', 134, "Java was not found in JAVA_HOME"),
        (None, 0, "Java was not found in JAVA_HOME"),
    ],
)
def test_a_java_that_will_not_do_is_named(
    state: Path, tmp_path: Path, said: str | None, code: int, found: str
) -> None:
    if said is not None:
        program = tmp_path / "bin" / "java"
        program.parent.mkdir()
        program.write_text(f"#!/bin/sh\necho '{said}' >&2\nexit {code}\n")
        program.chmod(0o755)

    sentence = error("--state", state, code=2, env={"JAVA_HOME": str(tmp_path)})

    assert f"needs Java 17 or newer and {found} ({tmp_path}): " in sentence


def test_what_a_program_says_goes_to_the_file_and_later_ones_are_heard(
    capfd: pytest.CaptureFixture[str],
) -> None:
    def say(word: str) -> None:
        subprocess.run(["sh", "-c", f"echo {word} >&2"], check=True)

    with tempfile.TemporaryFile() as file:
        with stderr_in(file.fileno()):
            say("noise")
        say("news")
        file.seek(0)
        assert file.read() == b"noise\n"

    assert capfd.readouterr().err == "news\n"
