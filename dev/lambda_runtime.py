# SPDX-License-Identifier: Apache-2.0
"""A Lambda runtime on this machine: its API, and the process that runs a package."""

from __future__ import annotations

import json
import subprocess
import sys
import sysconfig
import time
from collections.abc import Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import Any, Self
from uuid import uuid4

_ROOT = "/2018-06-01/runtime/"
_TIMEOUT_SECONDS = 55
_FUNCTION = "arn:aws:lambda:eu-west-1:111122223333:function:collect_lag"


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to an event: the handler's value, or else the error's fields."""

    value: Any = None
    error: dict[str, Any] | None = None


class _RuntimeApi(ThreadingHTTPServer):
    """The API that the process asks; events wait until it does, answers until the caller does."""

    # A process that has ended leaves a thread behind that waits for an event.
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Requests)
        self.events: SimpleQueue[Any] = SimpleQueue()
        self.answers: SimpleQueue[Answer] = SimpleQueue()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Keeps quiet of a process that was ended while it waited; all else is printed."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class _Requests(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _RuntimeApi

    def do_GET(self) -> None:
        if self.path != f"{_ROOT}invocation/next":
            self._reply(404)
            return
        event = json.dumps(self.server.events.get()).encode()
        headers = {
            "Content-Type": "application/json",
            "Lambda-Runtime-Aws-Request-Id": str(uuid4()),
            "Lambda-Runtime-Deadline-Ms": str(int((time.time() + _TIMEOUT_SECONDS) * 1000)),
            "Lambda-Runtime-Invoked-Function-Arn": _FUNCTION,
        }
        self._reply(200, event, headers)

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        # `/error` follows an event's id, and `init` when the function could not be imported.
        failed = self.path.endswith("/error")
        self._reply(202)
        self.server.answers.put(Answer(error=body) if failed else Answer(value=body))

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - http.server's name
        """Keeps quiet: a line for each request would only hide what fails."""

    def _reply(self, code: int, body: bytes = b"", headers: dict[str, str] | None = None) -> None:
        self.send_response(code)
        for name, value in {**(headers or {}), "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)


# Packages that Lambda's Python has beside the standard library.
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
    """Fills `folder` with links to the packages of a Lambda runtime, and returns it."""
    installed = Path(sysconfig.get_path("platlib"))
    for pattern in BROUGHT:
        (found,) = installed.glob(pattern)
        (folder / found.name).symlink_to(found)
    return folder


def run(program: str, task: Path, runtime: Path) -> subprocess.CompletedProcess[str]:
    """Runs Python code that can import modules of the two folders only."""
    command = [*_python(_RUN + program), str(task), str(runtime)]
    return subprocess.run(command, cwd=task, capture_output=True, text=True, check=False, env={})


class LambdaProcess:
    """The runtime's process for one function; stdout and stderr go to the file `output`."""

    def __init__(
        self, handler: str, task: Path, runtime: Path, environ: Mapping[str, str], output: Path
    ) -> None:
        self.output = output
        self._api = _RuntimeApi()
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
        Thread(target=self._api.serve_forever, args=(0.05,), daemon=True).start()
        address = f"127.0.0.1:{self._api.server_port}"
        with self.output.open("w") as output:
            self._process = subprocess.Popen(
                self._command,
                cwd=self._task,
                env={**self._environ, "AWS_LAMBDA_RUNTIME_API": address},
                stdout=output,
                stderr=output,
            )
        Thread(target=self._announce_its_end, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        self._api.shutdown()
        self._api.server_close()

    def invoke(self, event: Any) -> Answer:
        """Returns the function's answer; an error of type `Ended` once its process has ended."""
        self._api.events.put(event)
        answer = self._api.answers.get(timeout=240)
        if answer.error and answer.error["errorType"] == _ENDED:
            self._api.answers.put(answer)
        return answer

    def _announce_its_end(self) -> None:
        code = self._process.wait()
        words = f"exit code {code}: {self.output.read_text()}"
        self._api.answers.put(Answer(error={"errorType": _ENDED, "errorMessage": words}))


def _python(program: str) -> list[str]:
    # Without the environment's variables and site-packages, and as on Lambda without bytecode.
    return [sys.executable, "-I", "-S", "-B", "-c", program]
