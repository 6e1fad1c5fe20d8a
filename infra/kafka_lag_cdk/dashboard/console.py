# SPDX-License-Identifier: Apache-2.0
"""Places in AWS's console, each opened at what it is about: a dashboard is seen from any region."""

from __future__ import annotations

import re
from dataclasses import dataclass

from kafka_lag_cdk.dashboard.reporter import QUERY_LINES

_HOSTS = {"cn-": "console.amazonaws.cn", "us-gov-": "console.amazonaws-us-gov.com"}
_HOST = "console.aws.amazon.com"

# The console writes its state after the '#' in characters of its own, escaped twice over; it is
# copied from links that the console made, as its form is not documented.
_LOG_STATE = (
    "$3FqueryDetail$3D$257E$2528end$257E0$257Estart$257E-3600$257EtimeType$257E$2527RELATIVE"
    "$257Eunit$257E$2527seconds$257EeditorString$257E$2527{query}"
    "$257Esource$257E$2528$257E$2527{log_group}$2529$2529"
)


@dataclass(frozen=True, slots=True)
class Console:
    """Links for one region. The log group's name is taken to be of letters, digits and '-'."""

    region: str
    log_group: str
    workgroup: str | None

    @property
    def alarms(self) -> str:
        """All alarms of the region."""
        return self._at("cloudwatch", "alarmsV2:")

    @property
    def logs(self) -> str:
        """Logs Insights with the last hour's warnings and errors of the log group, to be run."""
        query = _starred("\n| ".join(QUERY_LINES))
        state = _LOG_STATE.format(query=query, log_group=self.log_group)
        return self._at("cloudwatch", f"logsV2:logs-insights{state}")

    @property
    def queries(self) -> str | None:
        """The workgroup in Athena, if there is one."""
        if self.workgroup is None:
            return None
        return self._at("athena", f"/workgroups/details/{self.workgroup}")

    def _at(self, service: str, place: str) -> str:
        found = (host for start, host in _HOSTS.items() if self.region.startswith(start))
        address = f"https://{self.region}.{next(found, _HOST)}/{service}/home"
        return f"{address}?region={self.region}#{place}"


def _starred(text: str) -> str:
    """Text as that state holds it: whatever might mean something is '*' and two digits."""
    return re.sub(r"[^A-Za-z0-9_.-]", lambda found: f"*{ord(found[0]):02x}", text)
