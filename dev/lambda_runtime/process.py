# SPDX-License-Identifier: Apache-2.0
"""A function run from its unpacked zip, by a Python that sees nothing of this environment."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
from collections.abc import Mapping
from pathlib import Path
from threading import Thread
from typing import Any, Self

from dev.lambda_runtime.api import Answer, RuntimeApi

# What Lambda's Python has beside the standard library.
BROUGHT = (
    *("boto3", "botocore", "s3transfer", "jmespath", "urllib3", "dateutil", "six.py"),
    *("awslambdaric", "runtime_client.*.so", "simplejson", "snapshot_restore_py.py"),
)

_ENDED = "Ended"

_START = """\
import runpy, sys
sys.path[:0] = sys.argv[1:3]
sys.argv[1:3] = []
runpy.run_module("awslambdaric", run_name="__main__")
"""
_RUN = """\
import sys
sys.path[:0] = sys.argv[1:3]
"""


def runtime_in(folder: Path) -> Path:
    """Fills `folder` with links to what a Lambda runtime brings, and returns it."""
    installed = Path(sysconfig.get_path("platlib"))
    for pattern in BROUGHT:
        (found,) = installed.glob(pattern)
        (folder / found.name).symlink_to(found)
    return folder


def run(program: str, task: Path, runtime: Path) -> subprocess.CompletedProcess[str]:
    """Runs Python code that can import what is in the two folders, and nothing else."""
    command = [*_python(_RUN + program), str(task), str(runtime)]
    return subprocess.run(command, cwd=task, capture_output=True, text=True, check=False, env={})


class LambdaProcess:
    """The runtime's process for one function; stdout and stderr go to the file `output`."""

    def __init__(
        self, handler: str, task: Path, runtime: Path, environ: Mapping[str, str], output: Path
    ) -> None:
        self.output = output
        self._api = RuntimeApi()
        self._task = task
        self._command = [*_python(_START), str(task), str(runtime), handler]
        self._environ = {
            "AWS_LAMBDA_FUNCTION_NAME": "collect_lag",
            "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "512",
            "AWS_LAMBDA_FUNCTION_VERSION": "$LATEST",
            "LAMBDA_TASK_ROOT": str(task),
            **environ,
        }

    def __enter__(self) -> Self:
        self._api.__enter__()
        with self.output.open("w") as output:
            self._process = subprocess.Popen(
                self._command,
                cwd=self._task,
                env={**self._environ, "AWS_LAMBDA_RUNTIME_API": self._api.address},
                stdout=output,
                stderr=output,
            )
        Thread(target=self._tell_of_its_end, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        self._api.__exit__()

    def invoke(self, event: Any) -> Answer:
        """What the function answers; once its process has ended, an error of type `Ended`."""
        self._api.events.put(event)
        answer = self._api.answers.get(timeout=60)
        if answer.error and answer.error["errorType"] == _ENDED:
            self._api.answers.put(answer)
        return answer

    def _tell_of_its_end(self) -> None:
        code = self._process.wait()
        words = f"exit code {code}: {self.output.read_text()}"
        self._api.answers.put(Answer(error={"errorType": _ENDED, "errorMessage": words}))


def _python(program: str) -> list[str]:
    # Without the environment's variables and site-packages, and as on Lambda without bytecode.
    return [sys.executable, "-I", "-S", "-B", "-c", program]
