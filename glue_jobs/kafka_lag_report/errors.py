# SPDX-License-Identifier: Apache-2.0
"""What a user can cause, each as one sentence: what, where, what to do.

ReportError
├── UsageError             the command line; exit code 2
├── NothingYetError        the first scheduled run, a day too early; exit code 0
└── DataError              the snapshots or the output; exit code 1
    ├── NoSnapshotsError   a date that has none
    ├── StoreError         the store's fault, and not that of a file's bytes
    └── UndecodedError     a file's own fault, known only once its rows are read
"""

# Of a file that has a footer, and so looks whole.
UNDECODED = "its rows cannot be decoded"


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


class NoSnapshotsError(DataError):
    """No wanted cluster has anything of the date; of a range, other dates may still be done."""


class StoreError(DataError):
    """S3 or the disk refused; the objects that it refused may be as good as any."""


class UndecodedError(DataError):
    """One file whose rows cannot be decoded, though it has a footer; a day may do without it."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.path = path

    def __str__(self) -> str:
        """The sentence."""
        return f"cannot read {self.path}: {UNDECODED}; restore or remove this file"
