# SPDX-License-Identifier: Apache-2.0
"""One broker's Java process: starts, stops and pauses it; reports its last output if it dies."""

import os
import signal
import subprocess
import time
from collections.abc import Sequence

from dev.kafka.errors import KafkaClusterError
from dev.kafka.node.guard import Guard
from dev.kafka.node.settings import Node

# Far more than a broker takes, on a busy machine as well: only one that hangs is killed.
STOPS_WITHIN = 120.0
_STANDS_WITHIN, _LOOKS_EVERY = 5.0, 0.005


class BrokerProcess:
    """The process of one node, which may run or not; the guard knows every started process."""

    def __init__(self, node: Node, *, class_path: str, java: Sequence[str], guard: Guard) -> None:
        self.node = node
        self._command = ["java", *java, "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn"]
        self._command += ["-cp", class_path, "kafka.Kafka", str(node.properties)]
        self._guard = guard
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Starts the process, which is ready some seconds later; its log is continued."""
        if self.alive:
            raise KafkaClusterError(f"Node {self.node.id} runs already")
        with self.node.log.open("ab") as log:
            self._process = subprocess.Popen(
                self._command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                # Its own session: Ctrl-C must not take brokers down in the middle of a run.
                start_new_session=True,
                cwd=self.node.folder,
            )
        self._guard.watch(self._process.pid)

    @property
    def alive(self) -> bool:
        """Returns whether the process exists; a paused one does."""
        return self._process is not None and self._process.poll() is None

    @property
    def pid(self) -> int | None:
        """Returns the id of the process; null if it does not run."""
        return self._process.pid if self._process is not None and self.alive else None

    def raise_if_dead(self) -> None:
        """Raises an error with the node's last output and its log's place, unless it runs."""
        if self.alive:
            return
        words = self.node.log.read_text(encoding="utf-8", errors="replace").splitlines()[-20:]
        text = "\n".join(words) or "(it said nothing)"
        raise KafkaClusterError(f"Node {self.node.id} died. Its log, {self.node.log}:\n{text}")

    def stop(self) -> None:
        """Asks the process to end (SIGTERM), kills it if it does not, and waits for its end."""
        # SIGCONT is sent as well, because a paused process gets the SIGTERM only when it goes on.
        self._end(signal.SIGTERM, signal.SIGCONT)

    def kill(self) -> None:
        """Ends the process at once (SIGKILL), paused or not, and waits until it is gone."""
        self._end(signal.SIGKILL)

    def pause(self) -> None:
        """Freezes the process (SIGSTOP): its connections stay open and nothing answers.

        Returns once all threads have stopped, because on a busy machine they run on for a while.
        """
        self._signal(signal.SIGSTOP)
        deadline = time.monotonic() + _STANDS_WITHIN
        while not self._stands_still() and time.monotonic() < deadline:
            time.sleep(_LOOKS_EVERY)

    def resume(self) -> None:
        """Lets a paused process go on (SIGCONT)."""
        self._signal(signal.SIGCONT)

    def _signal(self, number: signal.Signals) -> None:
        if self.pid is None:
            raise KafkaClusterError(f"Node {self.node.id} does not run")
        os.kill(self.pid, number)

    def _stands_still(self) -> bool:
        """Returns whether all threads have stopped since the last call, or the process is gone."""
        if self._process is None or not self.alive:
            return True
        pid, _ = os.waitpid(self._process.pid, os.WUNTRACED | os.WNOHANG)
        return pid != 0

    def _end(self, *signals: signal.Signals) -> None:
        process = self._process
        if process is None:
            return
        for number in signals:
            process.send_signal(number)
        try:
            process.wait(STOPS_WITHIN)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        self._guard.forget(process.pid)
        self._process = None
