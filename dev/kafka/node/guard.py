# SPDX-License-Identifier: Apache-2.0
"""A small process that ends the brokers and removes their folder when its parent is gone.

It holds the read end of a pipe, and only the parent has the write end. The kernel closes the pipe
however the parent ends, even by SIGKILL, on Linux and macOS alike.
"""

import os
import subprocess
from contextlib import suppress
from pathlib import Path

# A cluster's folder holds a few files a partition: thousands of them, on a slow disk.
_REMOVED_WITHIN = 65.0
# Lines are `+ PID` and `- PID` for processes to end, and `=` to keep the folder.
_SCRIPT = """\
trap '' INT TERM HUP
pids=' ' kept=
while read -r word pid; do
  case $word in
    +) pids="$pids$pid " ;;
    -) pids="${pids%% $pid *} ${pids#* $pid }" ;;
    =) kept=1 ;;
  esac
done
for pid in $pids; do kill -9 "$pid" 2>/dev/null; done
for pid in $pids; do
  for look in $(seq 100); do kill -0 "$pid" 2>/dev/null && sleep 0.05; done
done
[ -n "$kept" ] || rm -rf "$1"
"""


class Guard:
    """The parent's end of the pipe: names the processes to end; closing it, or dying, ends them."""

    def __init__(self, *, remove: Path) -> None:
        self._process = subprocess.Popen(
            ["/bin/sh", "-c", _SCRIPT, "guard", str(remove.resolve())],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            # Its own session: Ctrl-C in the terminal is meant for the parent alone.
            start_new_session=True,
            bufsize=0,
        )

    def watch(self, pid: int) -> None:
        """Adds a process that must end when the parent is gone."""
        self._write(f"+ {pid}\n")

    def forget(self, pid: int) -> None:
        """Stops watching this process id, because the system may give it to another process."""
        self._write(f"- {pid}\n")

    def spare_folder(self) -> None:
        """Keeps the folder, because somebody will want to read its logs."""
        self._write("=\n")

    def close(self) -> None:
        """Lets the guard end all processes, and waits until it has done so."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        self._process.wait(timeout=_REMOVED_WITHIN)

    def _write(self, line: str) -> None:
        # One write under PIPE_BUF bytes arrives whole, from whichever thread it comes.
        if self._process.stdin is not None:
            with suppress(BrokenPipeError):
                os.write(self._process.stdin.fileno(), line.encode())
