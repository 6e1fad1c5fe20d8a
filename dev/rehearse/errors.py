# SPDX-License-Identifier: Apache-2.0
"""What a person is told when a rehearsal cannot go on."""


class RehearsalError(Exception):
    """One sentence, with the end of a log where there is one."""
