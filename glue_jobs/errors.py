# SPDX-License-Identifier: Apache-2.0
"""What a user can cause, each as one sentence: what, where, what to do.

ReportError
├── UsageError  the command line; exit code 2
└── DataError   the snapshots or the output; exit code 1
"""


class ReportError(Exception):
    """A failure whose text is all that the user needs; never shown with a traceback."""

    exit_code = 1


class UsageError(ReportError):
    """The arguments cannot be meant as they stand; nothing was read or written."""

    exit_code = 2


class DataError(ReportError):
    """Snapshots are missing or unreadable, or the output refused them; earlier reports stand."""
