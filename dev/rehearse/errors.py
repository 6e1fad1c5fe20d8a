# SPDX-License-Identifier: Apache-2.0
"""The error of a rehearsal that cannot go on."""


class RehearsalError(Exception):
    """One sentence, with the end of a log where there is one."""
