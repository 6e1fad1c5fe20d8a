# SPDX-License-Identifier: Apache-2.0
"""AWS on this machine: moto's server (S3, Secrets Manager) behind `AWS_ENDPOINT_URL`."""

import logging
from typing import Any, Self
from urllib.request import Request, urlopen

import boto3
from moto.server import ThreadedMotoServer

REGION = "eu-west-1"


class AwsStandIn:
    """A context manager for a stand-in that begins empty and loses its contents at the end.

    moto keeps its state per process: starting a second one empties a first that still runs.
    """

    def __init__(self) -> None:
        self._server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
        self.endpoint_url = ""

    def __enter__(self) -> Self:
        # Otherwise each request is a line on the terminal.
        logging.getLogger("werkzeug").setLevel(logging.WARNING)
        self._server.start()
        host, port = self._server.get_host_and_port()
        self.endpoint_url = f"http://{host}:{port}"
        self.reset()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.stop()

    def reset(self) -> None:
        """Deletes all contents."""
        address = f"{self.endpoint_url}/moto-api/reset"
        request = Request(address, method="POST")  # noqa: S310 - it is the stand-in's
        with urlopen(request, timeout=10) as answer:  # noqa: S310 - it is the stand-in's
            answer.read()

    def environment(self) -> dict[str, str]:
        """Returns the variables that lead any AWS client to the stand-in; the keys are made up."""
        return {
            "AWS_ENDPOINT_URL": self.endpoint_url,
            "AWS_ACCESS_KEY_ID": "local",
            "AWS_SECRET_ACCESS_KEY": "local",
            "AWS_DEFAULT_REGION": REGION,
            "AWS_REGION": REGION,
        }

    def client(self, service: str) -> Any:
        """Returns a boto3 client for this stand-in, whatever the environment says."""
        return boto3.session.Session().client(
            service,  # type: ignore[call-overload]
            endpoint_url=self.endpoint_url,
            region_name=REGION,
            aws_access_key_id="local",
            aws_secret_access_key="local",  # noqa: S106 - the stand-in takes anything
        )
