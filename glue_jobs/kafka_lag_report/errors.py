# SPDX-License-Identifier: Apache-2.0
"""Errors that a user can cause; each text is one sentence with what failed, where, and what to do.

ReportError
├── UsageError             wrong command line; exit code 2
├── NothingYetError        first scheduled run, a day too early; exit code 0
└── DataError              snapshots or output at fault; exit code 1
    ├── FailedError        some clusters or the message failed; everything else is done
    ├── NoSnapshotsError   a date without snapshots
    ├── StoreError         the store refused; the files may be intact
    └── DamagedFileError   a file whose damage shows only when its rows are read
"""

import re
from collections.abc import Sequence

# Said about a file that has a footer, and so looks intact.
UNDECODED = "its rows cannot be decoded"
# The last line of a worker's traceback.
_WORKER_ERROR = re.compile(r"(?:\w+\.)*\w*Error\b")


class ReportError(Exception):
    """A failure whose text is all that the user needs; it is never shown with a traceback."""

    exit_code = 1


class UsageError(ReportError):
    """The arguments are wrong; nothing was read or written."""

    exit_code = 2


class NothingYetError(ReportError):
    """The schedule asks for a day before the first snapshots; this is not a failure."""

    exit_code = 0


class DataError(ReportError):
    """Snapshots are missing or unreadable, or the output refused them.

    Earlier reports stay as they are.
    """


class FailedError(DataError):
    """Parts of the run failed; each failure was printed when it happened."""

    def __init__(self, failures: Sequence[str]) -> None:
        super().__init__(f"failed: {', '.join(failures)}; see above")
        self.failures = failures


class NoSnapshotsError(DataError):
    """None of the requested clusters has data for the date.

    Other dates of a range may still be done.
    """


class StoreError(DataError):
    """S3 or the disk refused; the objects themselves may be intact."""


class DamagedFileError(DataError):
    """A file has a footer, but its rows cannot be decoded."""

    def __init__(self, path: str) -> None:
        super().__init__(f"cannot read {path}: {UNDECODED}; restore or remove this file")


def describe_error(error: BaseException) -> str:
    """Returns any failure as one line: the text of a ReportError, else the type and the message.

    For an error of Spark the message is its root cause, from the JVM or from a Python worker.
    """
    if isinstance(error, ReportError):
        return " ".join(str(error).split())
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    roots = [line.removeprefix("Caused by: ") for line in lines if line.startswith("Caused by: ")]
    workers = [line for line in lines if _WORKER_ERROR.match(line)]
    said = (*workers[-1:], *roots[-1:], *(line[2:] for line in lines if line.startswith(": ")))
    return f"{type(error).__name__}: {next(iter((*said, *lines)), 'no message')}"
