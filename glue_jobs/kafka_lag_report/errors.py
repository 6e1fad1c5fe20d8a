# SPDX-License-Identifier: Apache-2.0
"""What a user can cause, each as one sentence: what, where, what to do.

ReportError
├── UsageError             the command line; exit code 2
├── NothingYetError        the first scheduled run, a day too early; exit code 0
└── DataError              the snapshots or the output; exit code 1
    ├── FailedError        some clusters, or the message; the others are done
    ├── NoSnapshotsError   a date that has none
    ├── StoreError         the store's fault, and not that of a file's bytes
    └── CorruptObjectsError  files' own fault, known only once their rows are read
"""

import re
from collections.abc import Sequence

# Of a file that has a footer, and so looks whole.
UNDECODED = "its rows cannot be decoded"
# The last line of a worker's traceback.
_WORKER_ERROR = re.compile(r"(?:\w+\.)*\w*Error\b")


class ReportError(Exception):
    """A failure whose text is all that the user needs; never shown with a traceback."""

    exit_code = 1


class UsageError(ReportError):
    """The arguments cannot be meant as they stand; nothing was read or written."""

    exit_code = 2


class NothingYetError(ReportError):
    """The reporter is younger than the day that its schedule asks for; nobody need be woken."""

    exit_code = 0


class DataError(ReportError):
    """Snapshots are missing or unreadable, or the output refused them; earlier reports stand."""


class FailedError(DataError):
    """Some of what was asked for failed; each was named when it did."""

    def __init__(self, failures: Sequence[str]) -> None:
        super().__init__(f"failed: {', '.join(failures)}; see above")
        self.failures = failures


class NoSnapshotsError(DataError):
    """No wanted cluster has anything of the date; of a range, other dates may still be done."""


class StoreError(DataError):
    """S3 or the disk refused; the objects that it refused may be as good as any."""


class CorruptObjectsError(DataError):
    """Files whose rows cannot be decoded, though they have footers; a day may do without some."""

    def __init__(self, paths: Sequence[str]) -> None:
        super().__init__(paths)
        self.paths = tuple(paths)

    def __str__(self) -> str:
        """A sentence each."""
        return ". Also: ".join(
            f"cannot read {path}: {UNDECODED}; restore or remove this file" for path in self.paths
        )


def cause(error: BaseException) -> str:
    """Any failure as one line: a sentence of ours as it is, of others what they are and say.

    Of Spark's pages the root cause, on the JVM's or a worker's side.
    """
    if isinstance(error, ReportError):
        return " ".join(str(error).split())
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    roots = [line.removeprefix("Caused by: ") for line in lines if line.startswith("Caused by: ")]
    workers = [line for line in lines if _WORKER_ERROR.match(line)]
    said = (*workers[-1:], *roots[-1:], *(line[2:] for line in lines if line.startswith(": ")))
    return f"{type(error).__name__}: {next(iter((*said, *lines)), 'without a word')}"
