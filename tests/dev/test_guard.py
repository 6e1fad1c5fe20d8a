# SPDX-License-Identifier: Apache-2.0
"""The process that ends brokers when nobody is left to do it."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from dev.kafka.node.guard import Guard


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    """A process that would go on for an hour."""
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(3600)"])
    # Somebody must collect it, as init does after the real parent's death, before it is gone.
    threading.Thread(target=process.wait, daemon=True).start()
    yield process
    process.kill()
    process.wait()


def test_a_watched_process_ends_with_its_parent(sleeper: subprocess.Popen[bytes]) -> None:
    guard = Guard(remove=None)
    guard.watch(sleeper.pid)

    guard.close()

    assert sleeper.wait(240) == -signal.SIGKILL


def test_a_paused_process_ends_as_well(sleeper: subprocess.Popen[bytes]) -> None:
    guard = Guard(remove=None)
    guard.watch(sleeper.pid)
    os.kill(sleeper.pid, signal.SIGSTOP)

    guard.close()

    assert sleeper.wait(240) == -signal.SIGKILL


def test_a_forgotten_process_is_left_alone(sleeper: subprocess.Popen[bytes]) -> None:
    guard = Guard(remove=None)
    guard.watch(sleeper.pid)
    guard.forget(sleeper.pid)

    guard.close()

    assert sleeper.poll() is None


def test_the_folder_goes_too(tmp_path: Path) -> None:
    folder = tmp_path / "cluster"
    folder.mkdir()
    (folder / "log").write_text("full of data")

    Guard.over(folder, keep=False).close()

    assert not folder.exists()


def test_a_kept_folder_stays(tmp_path: Path) -> None:
    Guard.over(tmp_path, keep=True).close()

    assert tmp_path.exists()


def test_a_folder_with_logs_worth_reading_is_spared(tmp_path: Path) -> None:
    guard = Guard.over(tmp_path, keep=False)
    guard.spare_folder()

    guard.close()

    assert tmp_path.exists()
