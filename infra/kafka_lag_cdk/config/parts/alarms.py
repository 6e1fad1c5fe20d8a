# SPDX-License-Identifier: Apache-2.0
"""Which groups have alarms of their own, and which are watched without being named."""

from __future__ import annotations

from typing import Annotated

from kafka_lag_cdk.config.parts.kinds import Distinct, GroupName, Listed, Strict

Groups = Annotated[tuple[GroupName, ...], Listed, Distinct]


class Alarms(Strict):
    """`groups` get alarms on status, data loss and, where `sla_seconds` names one, on their SLA.

    `any_group` watches the status of all others with one query, `anomalies` the time lag of
    some against their own past; names are exact. The reporter's own health always has its alarms.
    """

    groups: Groups = ()
    any_group: bool = True
    anomalies: Groups = ()
