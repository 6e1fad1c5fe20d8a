# SPDX-License-Identifier: Apache-2.0
"""What a user can cause, each as one sentence: what, where, what to do.

ReportError
├── UsageError             the command line; exit code 2
├── NothingYetError        the first scheduled run, a day too early; exit code 0
└── DataError              the snapshots or the output; exit code 1
    └── NoSnapshotsError   a date that has none
"""


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
