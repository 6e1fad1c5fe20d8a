# SPDX-License-Identifier: Apache-2.0
"""Groups on a terminal: `console.print(groups_table(snapshot, console.width))`."""

from kafka_lag.cli.tables.groups import groups_table
from kafka_lag.cli.tables.names import shown

__all__ = ["groups_table", "shown"]
