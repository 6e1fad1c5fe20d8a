# SPDX-License-Identifier: Apache-2.0
"""Clients of AWS that give up within a minute, so that a report is not lost to its message."""

from typing import Any

_CONNECT_SECONDS, _READ_SECONDS, _ATTEMPTS = 5, 10, 4


def make_client(service: str, region: str) -> Any:
    """A client of a service in a region, wherever the job runs."""
    # Only here, as a run that publishes nothing needs no AWS.
    import boto3  # noqa: PLC0415
    from botocore.config import Config  # noqa: PLC0415

    config = Config(
        connect_timeout=_CONNECT_SECONDS,
        read_timeout=_READ_SECONDS,
        retries={"mode": "standard", "total_max_attempts": _ATTEMPTS},
    )
    # The types of boto3 know services by literals only.
    client: Any = boto3.client
    return client(service, region_name=region, config=config)
