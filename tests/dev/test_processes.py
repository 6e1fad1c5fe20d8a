# SPDX-License-Identifier: Apache-2.0
"""No process and no folder is left behind, however a program ends."""

import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from dev.kafka.readiness import READY_WITHIN, wait_until

pytestmark = [pytest.mark.kafka, pytest.mark.thorough]
ROOT = Path(__file__).parents[2]

Start = Callable[..., subprocess.Popen[str]]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where the cluster of this test has its files."""
    return tmp_path / "cluster"


@pytest.fixture
def start(folder: Path) -> Iterator[Start]:
    """A way to start `python -m dev.kafka` with one broker; it returns once that is up."""
    started: list[subprocess.Popen[str]] = []

    def up(*options: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "dev.kafka", "--brokers", "1", "--folder", str(folder)]
        process = subprocess.Popen(
            [*command, *options], cwd=ROOT, stdout=subprocess.PIPE, text=True
        )
        started.append(process)
        said = read_until_up(process)
        assert "127.0.0.1:" in said
        return process

    yield up
    for process in started:
        process.kill()
        process.communicate()


def read_until_up(process: subprocess.Popen[str]) -> str:
    """Return what it printed up to the line that says how to end it."""
    said = ""
    assert process.stdout is not None
    for line in process.stdout:
        said += line
        if "Ctrl-C" in line:
            break
    return said


def brokers_in(folder: Path) -> list[str]:
    """List the commands of living Kafka processes that name this folder."""
    listed = subprocess.run(
        ["ps", "-axwwo", "stat=,command="], capture_output=True, text=True, check=True
    )
    processes = [line.split(maxsplit=1) for line in listed.stdout.splitlines()]
    alive = [words[-1] for words in processes if not words[0].startswith("Z")]
    return [command for command in alive if "kafka.Kafka" in command and str(folder) in command]


def wait_until_nothing_is_left(folder: Path) -> None:
    """Wait until neither process nor file of the cluster exists."""
    wait_until(lambda: not brokers_in(folder), what="every broker gone")
    wait_until(lambda: not folder.exists(), what="the folder gone")


def test_killing_the_parent_leaves_nothing(start: Start, folder: Path) -> None:
    process = start()
    assert len(brokers_in(folder)) == 1

    process.send_signal(signal.SIGKILL)

    wait_until_nothing_is_left(folder)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_command_ends_clean(start: Start, folder: Path, number: signal.Signals) -> None:
    process = start()

    process.send_signal(number)

    assert process.wait(READY_WITHIN) == 0
    wait_until_nothing_is_left(folder)
