# SPDX-License-Identifier: Apache-2.0
"""What can go wrong while telling."""

from kafka_lag.errors import ReporterError


class TellingError(ReporterError):
    """Messages are not out, or not known to be; they stay claimed and are tried again."""


class OutOfTimeError(TellingError):
    """The function's time ends before the messages do."""

    def __init__(self) -> None:
        super().__init__(
            "The time of one run was not enough for all messages: the next goes on with them."
        )
