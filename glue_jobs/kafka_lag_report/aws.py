# SPDX-License-Identifier: Apache-2.0
"""Makes AWS clients that give up within a minute, so that a slow message cannot stop a report."""

from typing import Any

_CONNECT_SECONDS, _READ_SECONDS, _ATTEMPTS = 5, 10, 4


def make_client(service: str, region: str) -> Any:
    """Returns a boto3 client for a service in a region, with short timeouts and four attempts."""
    # Imported here, because a run that publishes nothing needs no AWS.
    import boto3  # noqa: PLC0415
    from botocore.config import Config  # noqa: PLC0415

    config = Config(
        connect_timeout=_CONNECT_SECONDS,
        read_timeout=_READ_SECONDS,
        retries={"mode": "standard", "total_max_attempts": _ATTEMPTS},
    )
    # The type stubs of boto3 accept only literal names of services.
    client: Any = boto3.client
    return client(service, region_name=region, config=config)
