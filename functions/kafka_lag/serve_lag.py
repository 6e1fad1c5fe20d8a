# SPDX-License-Identifier: Apache-2.0
"""The Lambda behind a function URL: Burrow's API, /metrics and the status page."""

from __future__ import annotations

import os
import sys
from functools import cache
from typing import Any

from aws_lambda_powertools import Logger

from kafka_lag.errors import ReporterError
from kafka_lag.serve_wiring import wired
from kafka_lag.views.function_url import checked

_SERVER_ERRORS = 500

# Made at the first request and kept by a warm function, what it has read with it.
_logger = cache(lambda: Logger(service="serve_lag", stream=sys.stdout))
_wired = cache(lambda: wired(os.environ))


def handler(event: Any, context: Any) -> dict[str, Any]:
    """Answers one request; fails with one clear error, which nobody outside sees, when it cannot
    know whom it answers."""
    try:
        told = _wired().resolve(checked(event), context)
    except ReporterError as error:
        _logger().error(str(error), error_type=type(error).__name__)
        raise
    if told["statusCode"] >= _SERVER_ERRORS:
        _logger().error("Not answered as asked.", status=told["statusCode"], path=event["rawPath"])
    return told
