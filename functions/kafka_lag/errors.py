# SPDX-License-Identifier: Apache-2.0
"""The errors, grouped by who can act on them.

ReporterError
├── ConfigError    the configuration, the event or the environment: change it and deploy again
├── SourceError    the Kafka cluster could not be read at all
│   └── LoginError      the brokers rejected the credentials or the mechanism
├── SinkError      metrics could not be published
└── StoreError     snapshots could not be read or written
    └── UnusableError    the store answered, but not with a snapshot
"""

import traceback
from pathlib import PurePath


class ReporterError(Exception):
    """Base of all errors: its text is one sentence for the person who can act on it."""


class ConfigError(ReporterError):
    """Wrong or missing configuration; lists every fault found."""


class SourceError(ReporterError):
    """No broker could be reached, or all rejected the connection."""


class LoginError(SourceError):
    """The brokers rejected the credentials or the mechanism."""


class SinkError(ReporterError):
    """A sink did not take the metrics."""


class StoreError(ReporterError):
    """The snapshot store did not answer, or holds something unreadable."""


class UnusableError(StoreError):
    """The object does not exist, or its bytes are not a snapshot; trying again would not help."""


def describe_unforeseen(error: BaseException) -> str:
    """Returns type, place and text of an exception that no code here expects."""
    *_, last = traceback.extract_tb(error.__traceback__) or [None]
    place = f" in {PurePath(last.filename).name}, line {last.lineno}" if last else ""
    return f"{type(error).__name__}{place}: {error}"
