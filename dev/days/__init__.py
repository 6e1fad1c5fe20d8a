# SPDX-License-Identifier: Apache-2.0
"""Days of snapshots that nobody had to wait for: logs and consumers by formula, read once a run.

What is read goes through the collector's own arithmetic and writer, so that every column is what
a collector would have written. `describe` says what a day can be made of, `scenarios`
holds days with a known truth, `large` a large cluster's, `write` writes them.

`dev.sim.tracks` has weeks of offsets without any reading.
"""

from dev.days.describe import Day
from dev.days.write import Written, write_day

__all__ = ["Day", "Written", "write_day"]
