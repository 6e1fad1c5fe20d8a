# SPDX-License-Identifier: Apache-2.0
"""One partition as it really is, and the truth about its unread records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Ints: TypeAlias = npt.NDArray[np.int64]
Floats: TypeAlias = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Log:
    """Living records as a consumer reads them, and how the log grew.

    `offsets` rise and `times` (ms, the producers' clock) are theirs. `written` holds the offsets
    of all records ever written, deleted ones too, and `appended` when each came, never falling.
    """

    offsets: Ints
    times: Ints
    start: int
    end: int
    written: Ints
    appended: Ints


def reached(log: Log, committed: Ints) -> Floats:
    """The newest time up to the next living record at or after each commit; NaN where none is."""
    times = np.append(np.maximum.accumulate(log.times).astype(np.float64), np.nan)
    found: Floats = times[np.searchsorted(log.offsets, committed)]
    return found


def append_moments(log: Log, committed: Ints) -> Floats:
    """When the next living record at or after each commit came; NaN where none is."""
    living = np.append(log.offsets, log.end)[np.searchsorted(log.offsets, committed)]
    moments = np.append(log.appended.astype(np.float64), np.nan)
    found: Floats = moments[np.searchsorted(log.written, living)]
    return found


def ends_at(log: Log, moments: Ints) -> Ints:
    """The end offset that the log had at each of these moments."""
    ends: Ints = np.append(log.written, log.end)[np.searchsorted(log.appended, moments, "right")]
    return ends
