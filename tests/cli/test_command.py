# SPDX-License-Identifier: Apache-2.0
"""The version, the help and the exit codes of `kafka-lag`."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from kafka_lag_cli.command import main

ROOT = Path(__file__).parents[2]
SUBCOMMANDS = (
    *("show", "watch", "serve", "doctor", "why", "alive", "mute", "tasks", "replay", "diff"),
    *("query", "report", "init", "config", "cost", "completion"),
)
NOWHERE = ("--bootstrap-servers", "127.0.0.1:1", "-X", "request.timeout.ms=500")


def printed_by(capsys: pytest.CaptureFixture[str], *argv: str) -> str:
    """What a call that ends well prints."""
    assert main(argv) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    return printed.out


@pytest.mark.parametrize("word", ["-h", "--help"])
def test_help_says_what_each_subcommand_and_exit_code_means(
    word: str, capsys: pytest.CaptureFixture[str]
) -> None:
    printed = printed_by(capsys, word)
    assert re.findall(r"^  ([a-z]+) {2,}\S", printed, re.MULTILINE)[: len(SUBCOMMANDS)] == list(
        SUBCOMMANDS
    )
    for code in ("0", "1", "2", "3", "4", "130"):
        assert re.search(rf"^ +{code} +\S", printed, re.MULTILINE)


@pytest.mark.parametrize("subcommand", ["", *SUBCOMMANDS])
def test_help_has_examples_and_fits_a_terminal(
    subcommand: str, capsys: pytest.CaptureFixture[str]
) -> None:
    printed = printed_by(capsys, *filter(None, [subcommand]), "--help")
    assert printed.startswith(f"Usage: kafka-lag {subcommand}".rstrip())
    assert re.search(r"^ *examples?:$", printed, re.MULTILINE)
    assert re.search(r"^ .*kafka-lag ", printed, re.MULTILINE)
    assert max(map(len, printed.splitlines())) <= 100


def test_the_help_of_show_is_seen_at_once(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert len(printed_by(capsys, "show", "--help").splitlines()) <= 35


def test_without_arguments_the_help_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert printed_by(capsys) == printed_by(capsys, "--help")


def test_the_version_is_the_projects(capsys: pytest.CaptureFixture[str]) -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert version in printed_by(capsys, "--version")


@pytest.mark.parametrize(("given", "expected"), [(None, "1"), ("4", "4")])
def test_numpy_starts_no_threads_unless_the_environment_asks_for_them(
    given: str | None, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # set first, so that it is in the end what it was
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", given or "")
    if given is None:
        monkeypatch.delenv("OPENBLAS_NUM_THREADS")
    main(["--version"])
    assert os.environ["OPENBLAS_NUM_THREADS"] == expected


@pytest.mark.parametrize("subcommand", ["show", "watch"])
def test_a_cluster_that_is_not_there_is_one_sentence_and_exit_code_one(
    subcommand: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert main([subcommand, *NOWHERE, "--state", str(tmp_path)]) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert len(printed.err.splitlines()) == 1
    assert printed.err.startswith("No broker could be reached")


def test_a_reader_that_has_seen_enough_is_no_error() -> None:
    command = [sys.executable, "-m", "kafka_lag_cli.command", "completion", "zsh"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 0


# Prints the packages that a subcommand has loaded once its options are parsed.
LOADED = """
import sys
from importlib import import_module
from kafka_lag_cli.connecting.collect_options import collect_options_of
command = getattr(import_module(f"kafka_lag_cli.{sys.argv[1]}"), sys.argv[1])
with command.make_context("", ["--bootstrap-servers", "localhost:9092"]) as context:
    collect_options_of(context.params, None, {})
print(*sys.modules)
"""
# A person waits for the first reading: these would add a third to the time until it begins.
HEAVY = {
    *("pydantic", "boto3", "kafka_lag_config.document"),
    *("kafka_lag_cli.doctor.inspection", "kafka_lag.brokers.diagnosis.unreachable"),
}
# Packages that only a reading may load, not help or a mistake in an option.
OF_A_READING = {"numpy", "pyarrow", "kafka"}


@pytest.mark.parametrize(
    ("subcommand", "without"), [("show", HEAVY | OF_A_READING), ("serve", HEAVY)]
)
def test_a_cluster_named_by_options_is_read_without_what_is_heavy(
    subcommand: str, without: set[str]
) -> None:
    call = [sys.executable, "-c", LOADED, subcommand]
    loaded = subprocess.run(call, capture_output=True, check=True, text=True).stdout.split()
    assert without & {*loaded} == set()
    assert f"kafka_lag_cli.{subcommand}" in loaded
