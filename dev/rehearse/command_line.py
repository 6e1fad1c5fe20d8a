# SPDX-License-Identifier: Apache-2.0
"""Runs the CDK command line against the emulator."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dev.rehearse.emulator import ACCOUNT, REGION, Emulator, tail
from dev.rehearse.errors import RehearsalError
from kafka_lag_config.reading import CONTEXT_KEY

ROOT = Path(__file__).parents[2]
# Where `make cdk` installs it.
PROGRAM = Path(".local", "cdk", "node_modules", ".bin", "cdk")
_PRELOAD = Path(__file__).with_name("localhost.js")

_SECONDS = 480.0


class CommandLine:
    """`cdk` on one configuration, which each command takes as it is then."""

    def __init__(self, emulator: Emulator, folder: Path) -> None:
        self._emulator = emulator
        self._folder = folder
        self._config, self._assembly = folder / "deployment.json", folder / "cdk.out"
        self._runs = 0

    def configure(self, document: Mapping[str, Any]) -> None:
        """Writes the configuration for all commands to come."""
        self._config.write_text(json.dumps(document, indent=2))

    def bootstrap(self) -> None:
        """Makes what CDK itself needs in the account and region."""
        # Beside no app, which it would synthesise and not need.
        self._run("bootstrap", f"aws://{ACCOUNT}/{REGION}", cwd=self._folder)

    def deploy(self) -> None:
        """Deploys every stack, asking nothing."""
        self._run("deploy", "--all", "--require-approval", "never", *self._app())

    def destroy(self, *stacks: str) -> None:
        """Removes these stacks of the last deploy, or without any all."""
        # What that has synthesised is there.
        self._run("destroy", *(stacks or ["--all"]), "--force", "--app", str(self._assembly))

    def _app(self) -> list[str]:
        app = shlex.join([sys.executable, "-m", "dev.rehearse.app"])
        context = f"{CONTEXT_KEY}={self._config}"
        return ["--app", app, "--output", str(self._assembly), "-c", context]

    def _run(self, *words: str, cwd: Path = ROOT) -> None:
        self._runs += 1
        log = self._folder / f"cdk-{self._runs}-{words[0]}.log"
        command = [str(ROOT / PROGRAM), *words, "--no-notices", "--no-color"]
        with log.open("w") as output:
            process = subprocess.Popen(
                command,
                cwd=cwd,
                env=_environment(os.environ, self._emulator.environment()),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                # A group of its own, so that the app below it ends with it.
                start_new_session=True,
            )
        try:
            status = process.wait(_SECONDS)
        except subprocess.TimeoutExpired:
            status = None
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        if status:
            raise RehearsalError(f"cdk {words[0]} has failed:\n{tail(log)}")
        if status is None:
            raise RehearsalError(f"cdk {words[0]} took too long:\n{tail(log)}")


def install() -> None:
    """Installs the command line as `make cdk` does, if need be. RehearsalError without Node."""
    done = subprocess.run(
        ["make", "--no-print-directory", str(PROGRAM)],
        cwd=ROOT,
        check=False,
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise RehearsalError(f"The CDK command line cannot be installed: {done.stderr.strip()}")


def _environment(environ: Mapping[str, str], aws: Mapping[str, str]) -> dict[str, str]:
    """This process's without any other AWS account in it."""
    own = {name: value for name, value in environ.items() if not name.startswith("AWS_")}
    preload = f"--require {json.dumps(str(_PRELOAD))}"
    return {
        **own,
        **aws,
        "NODE_OPTIONS": f"{own.get('NODE_OPTIONS', '')} {preload}".strip(),
        "NO_PROXY": "localhost,127.0.0.1",
        "CDK_DISABLE_CLI_TELEMETRY": "true",
        "JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION": "20",
    }
