# SPDX-License-Identifier: Apache-2.0
"""The Lambda that S3's events call: what changed in a completed snapshot is told, once."""

from __future__ import annotations

import os
import sys
from dataclasses import asdict
from functools import cache
from typing import Any

from aws_lambda_powertools import Logger

from kafka_lag.errors import ReporterError
from kafka_lag.notify.event import completed_runs
from kafka_lag.notify.wiring import wired

# Kept free at the end of the function's time: one request begun before may hang as long.
SPARE_SECONDS = 25.0

# Made at the first event and kept by a warm function, its connections with it.
_logger = cache(lambda: Logger(service="notify_status", stream=sys.stdout))
_wired = cache(lambda: wired(os.environ, _logger()))


def handler(event: Any, context: Any) -> dict[str, int]:
    """Tells the news of the event's runs; fails, after doing what it can, with one clear error."""
    try:
        bucket, notifiers = _wired()
        left = context.get_remaining_time_in_millis() / 1000 - SPARE_SECONDS if context else None
        outcome = notifiers.run(completed_runs(event, bucket), left)
    except ReporterError as error:
        _logger().error(str(error), error_type=type(error).__name__)
        raise
    return asdict(outcome)
