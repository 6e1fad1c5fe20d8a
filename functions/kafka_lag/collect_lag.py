# SPDX-License-Identifier: Apache-2.0
"""The scheduled Lambda: one run of the collector for the minute that the event names."""

from __future__ import annotations

import os
import sys
from functools import cache
from typing import Any

from aws_lambda_powertools import Logger

from kafka_lag.errors import ReporterError
from kafka_lag.event import scheduled_time
from kafka_lag.wiring import wired

# Kept free at the end of the function's time, to say what went wrong.
_SPARE_SECONDS = 2.0

# Made at the first event and kept by a warm function, its connections with it.
_logger = cache(lambda: Logger(service="collect_lag", stream=sys.stdout))
_wired = cache(lambda: wired(os.environ, _logger()))


def handler(event: Any, context: Any) -> dict[str, int]:
    """Collects for the event's minute; fails, after doing what it can, with one clear error."""
    try:
        settings, collector = _wired()
        left = context.get_remaining_time_in_millis() / 1000 - _SPARE_SECONDS if context else None
        outcome = collector.run(scheduled_time(event, settings.cluster), left)
    except ReporterError as error:
        _logger().error(str(error), error_type=type(error).__name__)
        raise
    groups = outcome.report.snapshot.groups
    return {"groups": len(groups), "objects_written": outcome.objects_written}
