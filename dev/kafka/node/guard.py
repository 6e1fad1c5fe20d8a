# SPDX-License-Identifier: Apache-2.0
"""A small process that ends the brokers and removes their folder when its parent is gone.

It holds the read end of a pipe, and only the parent has the write end. The kernel closes the pipe
however the parent ends, even by SIGKILL, on Linux and macOS alike. The guard runs as a plain
script, so it imports only the standard library.
"""

import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

GONE_WITHIN = 5.0
# A cluster's folder holds a few files a partition: thousands of them, on a slow disk.
_REMOVED_WITHIN = 60.0


class Guard:
    """The parent's end of the pipe: names the processes to end; closing it, or dying, ends them."""

    def __init__(self, *, remove: Path) -> None:
        command = [sys.executable, "-I", str(Path(__file__).resolve())]
        self._process = subprocess.Popen(
            [*command, str(remove.resolve())],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            # Its own session: Ctrl-C in the terminal is meant for the parent alone.
            start_new_session=True,
            bufsize=0,
        )

    def watch(self, pid: int) -> None:
        """Adds a process that must end when the parent is gone."""
        self._write(f"+{pid}\n")

    def forget(self, pid: int) -> None:
        """Stops watching this process id, because the system may give it to another process."""
        self._write(f"-{pid}\n")

    def spare_folder(self) -> None:
        """Keeps the folder, because somebody will want to read its logs."""
        self._write("=\n")

    def close(self) -> None:
        """Lets the guard end all processes, and waits until it has done so."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        self._process.wait(timeout=GONE_WITHIN + _REMOVED_WITHIN)

    def _write(self, line: str) -> None:
        # One write under PIPE_BUF bytes arrives whole, from whichever thread it comes.
        if self._process.stdin is not None:
            with suppress(BrokenPipeError):
                os.write(self._process.stdin.fileno(), line.encode())


def wait_for_the_end(pipe: BinaryIO) -> tuple[set[int], bool]:
    """Waits until the parent closes the pipe.

    Returns the ids of the processes to end, and whether to remove the folder.
    """
    watched: set[int] = set()
    remove = True
    for line in pipe:
        if line.startswith(b"+"):
            watched.add(int(line[1:]))
        elif line.startswith(b"-"):
            watched.discard(int(line[1:]))
        else:
            remove = False
    return watched, remove


def end(pids: set[int]) -> None:
    """Kills these processes, also stopped (SIGSTOP) ones, and waits until they are gone."""
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    deadline = time.monotonic() + GONE_WITHIN
    while any(_exists(pid) for pid in pids) and time.monotonic() < deadline:
        time.sleep(0.05)


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def main() -> None:
    """Waits for the parent's end, then ends its processes and removes the folder."""
    for name in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(name, signal.SIG_IGN)
    pids, remove = wait_for_the_end(sys.stdin.buffer)
    end(pids)
    for folder in sys.argv[1:] if remove else []:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
