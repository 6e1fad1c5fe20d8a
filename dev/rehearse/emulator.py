# SPDX-License-Identifier: Apache-2.0
"""An AWS account on this machine: ministack, in a process of its own, with rights enforced."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from threading import Condition, Thread
from typing import Any, Self

import boto3

ACCOUNT, REGION = "111122223333", "eu-west-1"

_STARTED_WITHIN = 240.0
_STOPPED_WITHIN = 120.0
_LOG_LINES = 30

Event = dict[str, Any]


class RehearsalError(Exception):
    """One sentence, with the end of a log where there is one."""


@dataclass(frozen=True, slots=True)
class Credentials:
    """Keys of a principal; those of the account itself have no session token."""

    key: str
    secret: str
    token: str | None = None

    def environment(self) -> dict[str, str]:
        """Returns the keys as environment variables of AWS clients."""
        keys = {"AWS_ACCESS_KEY_ID": self.key, "AWS_SECRET_ACCESS_KEY": self.secret}
        return keys | ({"AWS_SESSION_TOKEN": self.token} if self.token else {})


# The access key is the account's number, and may do everything in it.
OWNER = Credentials(ACCOUNT, "test")


class Emulator:
    """A context manager; the account begins empty and is gone at the end.

    `folder` gets its log and its files. What happens inside is known by events, which
    `dev.rehearse.server` describes. `brokers` (host:port, commas between) is what MSK says of each
    cluster that takes plaintext.
    """

    def __init__(self, folder: Path, brokers: str = "") -> None:
        self.endpoint_url = ""
        self.log = folder / "emulator.log"
        self._folder = folder
        self._brokers = brokers
        self._events: list[Event] = []
        self._changed = Condition()
        self._ended = False

    def __enter__(self) -> Self:
        with socket.create_server(("127.0.0.1", 0)) as listening, self.log.open("w") as log:
            port = listening.getsockname()[1]
            self.endpoint_url = f"http://localhost:{port}"
            self._process = subprocess.Popen(
                [sys.executable, "-m", "dev.rehearse.server", str(listening.fileno())],
                pass_fds=[listening.fileno()],
                env=_server_environment(os.environ, port, self._folder, self._brokers),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                # Ctrl-C in the terminal is meant for the parent, which then ends this.
                start_new_session=True,
            )
        self._reader = Thread(target=self._read_events, daemon=True)
        self._reader.start()
        try:
            self.wait_for("ready", lambda _: True, _STARTED_WITHIN)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        # It ends when its stdin does, and so also when this process is killed.
        if self._process.stdin:
            self._process.stdin.close()
        try:
            self._process.wait(_STOPPED_WITHIN)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._reader.join()
        if self._process.stdout:
            self._process.stdout.close()

    def environment(self, credentials: Credentials = OWNER) -> dict[str, str]:
        """Returns environment variables that lead every AWS client to this account only."""
        return {
            **credentials.environment(),
            "AWS_ENDPOINT_URL": self.endpoint_url,
            "AWS_REGION": REGION,
            "AWS_DEFAULT_REGION": REGION,
            "AWS_EC2_METADATA_DISABLED": "true",
            # Whatever a person has configured: no profile, no endpoint, no credentials of theirs.
            "AWS_CONFIG_FILE": os.devnull,
            "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
        }

    def client(self, service: str, credentials: Credentials = OWNER) -> Any:
        """Returns a boto3 client for this account, whatever the environment says."""
        return boto3.session.Session().client(
            service,  # type: ignore[call-overload]
            endpoint_url=self.endpoint_url,
            region_name=REGION,
            aws_access_key_id=credentials.key,
            aws_secret_access_key=credentials.secret,
            aws_session_token=credentials.token,
        )

    def assume(self, role_arn: str, session: str) -> Credentials:
        """Returns the credentials of a service with this role.

        `session` has at least two characters.
        """
        found = self.client("sts").assume_role(RoleArn=role_arn, RoleSessionName=session)
        keys = found["Credentials"]
        return Credentials(keys["AccessKeyId"], keys["SecretAccessKey"], keys["SessionToken"])

    def events(self, kind: str) -> list[Event]:
        """Returns all events of a kind so far, oldest first."""
        with self._changed:
            return [each for each in self._events if each["event"] == kind]

    def wait_for(self, kind: str, fits: Callable[[Event], bool], seconds: float) -> Event:
        """Returns the first event of this kind that fits, and waits up to `seconds` for it.

        Raises RehearsalError if none comes or the emulator has ended.
        """
        deadline = time.monotonic() + seconds
        with self._changed:
            while True:
                found = next((e for e in self._events if e["event"] == kind and fits(e)), None)
                if found is not None:
                    return found
                if self._ended:
                    raise RehearsalError(f"The emulator has ended:\n{self._tail()}")
                if not self._changed.wait(deadline - time.monotonic()):
                    raise RehearsalError(
                        f"The emulator reported no event {kind} within {seconds:.0f} s; its log "
                        f"ends with:\n{self._tail()}"
                    )

    def _tail(self) -> str:
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-_LOG_LINES:])

    def _read_events(self) -> None:
        for line in self._process.stdout or ():
            with self._changed:
                self._events.append(json.loads(line))
                self._changed.notify_all()
        with self._changed:
            self._ended = True
            self._changed.notify_all()


def _server_environment(
    environ: Mapping[str, str], port: int, folder: Path, brokers: str
) -> dict[str, str]:
    files = folder / "emulator"
    files.mkdir(exist_ok=True)
    own = {name: value for name, value in environ.items() if not name.startswith("AWS_")}
    return own | {
        "AUTH": "true",
        "GATEWAY_PORT": str(port),
        "MINISTACK_ACCOUNT_ID": ACCOUNT,
        "MINISTACK_REGION": REGION,
        "MINISTACK_MSK_BOOTSTRAP": brokers,
        "LOG_LEVEL": "WARNING",
        # Listeners beside the one for requests, of services that are not used.
        "IOT_MTLS_ENABLED": "0",
        "SFTP_ENABLED": "0",
        "TMPDIR": str(files),
        "S3_DATA_DIR": str(files / "s3"),
    }
