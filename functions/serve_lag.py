# SPDX-License-Identifier: Apache-2.0
"""The Lambda behind a function URL: Burrow's API, /metrics and the status page."""

from __future__ import annotations

import os
import sys
import time
from functools import cache
from typing import Any

from aws_lambda_powertools import Logger

from functions.errors import ReporterError
from functions.serve_wiring import wired
from functions.views.function_url import reply_of, request_of
from functions.views.routing import answer, refused

_SERVER_ERRORS = 500
_WHO_IS_IT = "Sign the request, or send the token as Authorization: Bearer, as it is set up here."

# Made at the first request and kept by a warm function, what it has read with it.
_logger = cache(lambda: Logger(service="serve_lag", stream=sys.stdout))
_wired = cache(lambda: wired(os.environ))


def handler(event: Any, _: Any) -> dict[str, Any]:
    """Answers one request; fails with one clear error, which nobody outside sees, when it cannot
    know whom it answers."""
    try:
        snapshots, allowed = _wired()
        request = request_of(event)
        if not allowed(event):
            told = refused(request, 401, _WHO_IS_IT, {"WWW-Authenticate": "Bearer"})
            return reply_of(request, told)
    except ReporterError as error:
        _logger().error(str(error), error_type=type(error).__name__)
        raise
    told = answer(request, snapshots, int(time.time() * 1000))
    if told.status >= _SERVER_ERRORS:
        _logger().error("Not answered as asked.", status=told.status, path=request.path)
    return reply_of(request, told)
