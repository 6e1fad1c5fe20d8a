# SPDX-License-Identifier: Apache-2.0
"""How bad a row is, worst first: what went missing stays as bad as it was last known."""

from __future__ import annotations

import numpy as np

from kafka_lag import contract
from kafka_lag.lag.columns import Column
from kafka_lag.lag.frame import Frame

ERR, WARN, UNKNOWN, OK = range(4)
# The word of each in an address, the look on the page, and the word for people.
WORDS = (contract.ERR, contract.WARN, "UNKNOWN", contract.OK)
LOOKS = ("urgent", "serious", "unknown", "calm")
_OF_STATUS = {
    contract.OK: OK,
    contract.WARN: WARN,
    contract.STOP: ERR,
    contract.STALL: ERR,
    contract.REWIND: ERR,
    contract.ERR: ERR,
}


def severities(frame: Frame) -> Column:
    """0 to 3 of each row, the worst first: known throughout.

    A row that was not read is in error if it last was; one that was last OK is unknown.
    """
    status, last = (_ranks(frame, name) for name in ("status", "last_status"))
    worse = np.where(last.known, np.minimum(last.values, UNKNOWN), UNKNOWN)
    return Column.of(np.where(status.known, status.values, worse))


def _ranks(frame: Frame, name: str) -> Column:
    words = frame.strings(name)
    codes = words.codes_in(tuple(_OF_STATUS))
    return Column(np.array(tuple(_OF_STATUS.values()), np.int64)[codes.values], codes.known)
