# SPDX-License-Identifier: Apache-2.0
"""What somebody who sees the page for the first time must know of its numbers."""

from __future__ import annotations

from kafka_lag_cdk.config.cluster import Cluster
from kafka_lag_cdk.dashboard.console import Console
from kafka_lag_cdk.dashboard.search import MOST_LINES

_MEANING = """
| | | in `docs/metrics.md` |
|---|---|---|
| **Lag** | records between what a group committed and the end of the log | `#offsetlag` |
| **Time lag** | the **age** of the next record that the group will read; MSK's metric of that \
name is the time to work the lag off | `#estimatedtimelag` |
| **Status** | 0 OK, 1 WARN (not catching up), 2 ERR (stopped, stalled, rewound, or records lost) \
| `#groupstatus` |
| **Retention risk** | seconds until retention deletes something unread; above its graph, \
2,592,000 (30 days), when nothing is at risk | `#timetodataloss` |
| **No line** | unknown, which is never shown as 0 | |
"""


def header(cluster: Cluster, console: Console) -> str:
    """Markdown, the name as code: it may hold underscores."""
    minutes = cluster.interval_minutes
    every = "every minute" if minutes == 1 else f"every {minutes} minutes"
    queries = f"[Athena, workgroup {console.workgroup}]({console.queries}) | "
    return (
        f"# Consumer lag on `{cluster.name}`\n"
        f"Read {every}. Each graph shows its worst {MOST_LINES} lines. "
        f"[Alarms]({console.alarms}) | [its log]({console.logs}) | "
        f"{queries if console.queries else ''}"
        "what each alarm asks for: `docs/operations.md#alarms`\n"
        f"{_MEANING}"
    )
