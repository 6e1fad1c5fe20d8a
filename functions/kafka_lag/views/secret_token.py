# SPDX-License-Identifier: Apache-2.0
"""Reads the views' token from a secret.

This module is apart from the token's check, because loading boto3 takes half a second.
"""

from __future__ import annotations

from typing import Any

from kafka_lag.aws import AWS_ERRORS, error_code, read_secret
from kafka_lag.errors import ConfigError
from kafka_lag.views.auth import check_token


def read_secret_token(client: Any, secret_id: str) -> str:
    """Returns the token that is the whole of a secret.

    Raises ConfigError, without any of its text. An empty token would let everybody in, so it
    raises, too.
    """
    try:
        secret = read_secret(client, secret_id)
    except AWS_ERRORS as error:
        raise ConfigError(
            f"Cannot read the token's secret {secret_id} ({error_code(error)}). "
            "Check that it exists and the role's rights."
        ) from error
    if not secret or not secret.strip():
        raise ConfigError(f"The secret {secret_id} must be a text, the token itself; it is empty.")
    return check_token(secret, f"The secret {secret_id}")
