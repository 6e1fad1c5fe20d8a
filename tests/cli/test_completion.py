# SPDX-License-Identifier: Apache-2.0
"""`kafka-lag completion`: each shell gets lines that it understands, with words that exist."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest

from kafka_lag_cli.command import main

CODE = "import sys; from kafka_lag_cli.command import main; sys.exit(main())"


def environment(shell: str, line: str) -> dict[str, str]:
    """What the shell's lines call the command with, for the last word of a line."""
    return {
        "_KAFKA_LAG_COMPLETE": f"{shell}_complete",
        "COMP_WORDS": line,
        "COMP_CWORD": line.rsplit(" ", maxsplit=1)[-1] if shell == "fish" else str(line.count(" ")),
    }


def words(printed: str) -> set[str]:
    return set(printed.replace("\t", ",").replace("\n", ",").split(","))


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_lines_name_the_command_and_its_variable_and_are_right_to_their_shell(
    shell: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["completion", shell]) == 0
    lines = capsys.readouterr().out
    assert "kafka-lag" in lines
    assert f"_KAFKA_LAG_COMPLETE={shell}_complete" in lines
    # A shell that is not here cannot be asked.
    if program := shutil.which(shell):
        done = subprocess.run(
            [program, "-n"], input=lines, capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stderr) == (0, "")


def test_a_program_that_is_called_so_offers_words() -> None:
    environ = os.environ | environment("bash", "kafka-lag s")
    done = subprocess.run(
        [sys.executable, "-c", CODE], env=environ, capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    assert words(done.stdout) >= {"show", "serve"}


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("kafka-lag show --boot", {"--bootstrap-servers"}),
        ("kafka-lag show --sort ", {"status", "lag", "time-lag", "loss", "members", "name"}),
        ("kafka-lag serve --lis", {"--listen"}),
    ],
)
def test_subcommands_options_and_values_are_offered(
    line: str,
    offered: set[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name, value in environment("bash", line).items():
        monkeypatch.setenv(name, value)
    with pytest.raises(SystemExit):
        main([])
    assert offered <= words(capsys.readouterr().out)
