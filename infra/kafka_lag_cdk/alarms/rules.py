# SPDX-License-Identifier: Apache-2.0
"""Every alarm as data: when it fires, what silence means to it, what it says to do.

All read Maximum: embedded metrics may be delivered twice, and of Lambda's and Logs' own counts it
is at least 1 whenever anything was counted. M of N is in runs of the collector.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from kafka_lag import contract


class Operator(Enum):
    """How a value is held against the threshold; the words are those of the documentation."""

    AT_LEAST = ">="
    ABOVE = ">"
    BELOW = "<"


class Missing(Enum):
    """What a run without a value is taken for, in CloudWatch's words.

    MISSING makes INSUFFICIENT_DATA of silence, which tells nobody: no false alarm and no false
    recovery. BREACHING is for the heartbeat alone. NOT_BREACHING is for counts that AWS publishes
    only when there is something to count, where no value is none.
    """

    MISSING = "missing"
    BREACHING = "breaching"
    NOT_BREACHING = "notBreaching"


LAMBDA, LOGS = "AWS/Lambda", "AWS/Logs"

# A saved query, by its title in Athena.
GROUP_NOW = "Group: what is wrong with it now"
BY_MEMBER = "Consumers: which member or host lags"
_NOW = f"the saved query '{GROUP_NOW}' in Athena"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One kind of alarm; `name` is a part of alarm names and its heading in the documentation.

    `namespace` is None for the reporter's own. `threshold` is None where each group has its own,
    or CloudWatch learns it. `warm_up` alarms are not evaluated before data can be there. `counts`:
    of faults, whose end is no news, and of which a first deploy would tell each: no OK is sent.
    """

    name: str
    metric: str
    operator: Operator
    threshold: float | None
    datapoints: int
    periods: int
    missing: Missing
    meaning: str
    to_do: str
    namespace: str | None = None
    warm_up: bool = False
    counts: bool = False


HEARTBEAT = Rule(
    name="heartbeat",
    metric=contract.COLLECTOR_SUCCESS,
    operator=Operator.BELOW,
    threshold=1,
    datapoints=3,
    periods=3,
    missing=Missing.BREACHING,
    meaning="No run has succeeded for a while, so nothing else here can be trusted to alarm.",
    to_do="Read the function's log, which names the cause; if it is silent, look at the schedule.",
    warm_up=True,
)
ERRORS = Rule(
    name="collector-errors",
    metric="Errors",
    operator=Operator.AT_LEAST,
    threshold=1,
    datapoints=3,
    periods=5,
    missing=Missing.MISSING,
    meaning="Runs fail again and again; what could be read was published nevertheless.",
    to_do="Read the function's log: each failed run ends in one sentence with its causes.",
    namespace=LAMBDA,
    counts=True,
)
DROPPED = Rule(
    name="collector-dropped",
    metric="AsyncEventsDropped",
    operator=Operator.AT_LEAST,
    threshold=1,
    datapoints=3,
    periods=5,
    missing=Missing.NOT_BREACHING,
    meaning="Runs are given up: they failed, which is not tried again, or could not start in time.",
    to_do="With collector-errors, see there; alone, look for Throttles and raise the concurrency.",
    namespace=LAMBDA,
    counts=True,
)
PARSING = Rule(
    name="emf-parsing",
    metric="EMFParsingErrors",
    operator=Operator.AT_LEAST,
    threshold=1,
    datapoints=3,
    periods=5,
    missing=Missing.NOT_BREACHING,
    meaning="CloudWatch cannot read lines of metrics, so some are missing.",
    to_do="Report it as a fault of this software, with a line that has _aws from the log.",
    namespace=LOGS,
    counts=True,
)
VALIDATION = Rule(
    name="emf-validation",
    metric="EMFValidationErrors",
    operator=Operator.AT_LEAST,
    threshold=1,
    datapoints=3,
    periods=5,
    missing=Missing.NOT_BREACHING,
    meaning="CloudWatch refuses names or values of metrics, so some are missing.",
    to_do="Look which group of the snapshots is not in CloudWatch, and report its name as a fault.",
    namespace=LOGS,
    counts=True,
)
READING = Rule(
    name="reading",
    metric=contract.READ_ERRORS,
    operator=Operator.AT_LEAST,
    threshold=1,
    datapoints=10,
    periods=15,
    missing=Missing.MISSING,
    meaning="Some brokers, groups or topics have not answered for a while; the rest is right.",
    to_do="Their names and the reason are in the function's log: down, or rights that are missing.",
    counts=True,
)
OMITTED = Rule(
    name="metrics-omitted",
    metric=contract.METRICS_OMITTED,
    operator=Operator.AT_LEAST,
    threshold=1,
    datapoints=10,
    periods=15,
    missing=Missing.MISSING,
    meaning="The budget leaves metrics out, so no alarm hears of some topics or groups.",
    to_do="Deny groups and topics that nobody needs, or raise levels.max_metrics.",
    counts=True,
)
STATUS = Rule(
    name="status",
    metric=contract.GROUP_STATUS,
    operator=Operator.AT_LEAST,
    threshold=contract.GROUP_STATUS_VALUES[contract.ERR],
    datapoints=3,
    periods=5,
    missing=Missing.MISSING,
    meaning="The group stopped, is stuck, went back, or has lost records.",
    to_do=f"Look at its consumers; {_NOW} says which topic, partition and reason.",
)
SLA = Rule(
    name="sla",
    metric=contract.ESTIMATED_TIME_LAG,
    operator=Operator.ABOVE,
    threshold=None,
    datapoints=3,
    periods=5,
    missing=Missing.MISSING,
    meaning="The oldest unread record is older than the group's sla_seconds.",
    to_do="See whether the group moves at all (GroupStatus on the dashboard), then add capacity or "
    f"look for a slow step; the saved query '{BY_MEMBER}' in Athena says where it lags.",
)
LOSS = Rule(
    name="data-loss",
    metric=contract.TIME_TO_DATA_LOSS,
    operator=Operator.BELOW,
    threshold=contract.NO_LOSS_SECONDS,
    datapoints=3,
    periods=5,
    missing=Missing.MISSING,
    meaning="Retention will delete records that the group has not read; the value says how soon. "
    "30 days is the value for no risk; it falls below only within risk_horizon_hours (24).",
    to_do="Raise retention.ms or retention.bytes of the topic first, then get the group going; "
    f"{_NOW} says which topic.",
)
ANY_GROUP = Rule(
    name="any-group",
    metric=contract.GROUP_STATUS,
    operator=Operator.AT_LEAST,
    threshold=contract.GROUP_STATUS_VALUES[contract.ERR],
    datapoints=3,
    periods=5,
    missing=Missing.MISSING,
    meaning="A group without a status alarm of its own is in the state that status is about.",
    to_do="The message names the group as contributor: ask its owner, or deny it if nobody cares; "
    f"{_NOW} says which topic, partition and reason.",
)
ANY_SLA = Rule(
    name="any-sla",
    metric=contract.SLA_USED,
    operator=Operator.ABOVE,
    threshold=1,
    datapoints=3,
    periods=5,
    missing=Missing.MISSING,
    meaning="The oldest unread record of a group without an SLA alarm of its own is older than its "
    "sla_seconds.",
    to_do="The message names the group as contributor; "
    f"the saved query '{BY_MEMBER}' in Athena says where it lags.",
)
ANY_LOSS = Rule(
    name="any-loss",
    metric=contract.TIME_TO_DATA_LOSS,
    operator=Operator.BELOW,
    threshold=contract.NO_LOSS_SECONDS,
    datapoints=3,
    periods=5,
    missing=Missing.MISSING,
    meaning="Retention will delete records that a group without a data-loss alarm of its own has "
    "not read; the value says how soon.",
    to_do="The message names the group as contributor: raise retention.ms or retention.bytes of "
    f"the topic first; {_NOW} says which topic.",
)
ANOMALY = Rule(
    name="anomaly",
    metric=contract.ESTIMATED_TIME_LAG,
    operator=Operator.ABOVE,
    threshold=None,
    datapoints=10,
    periods=15,
    missing=Missing.MISSING,
    meaning="The group is farther behind than is usual for it at this hour of the week.",
    to_do="Compare with its time lag of last week; nothing is promised, so it may be harmless.",
)

OF_REPORTER = (HEARTBEAT, ERRORS, DROPPED, PARSING, VALIDATION, READING, OMITTED)
OF_GROUP = (STATUS, SLA, LOSS)
OF_ANY_GROUP = (ANY_GROUP, ANY_SLA, ANY_LOSS)
RULES = (*OF_REPORTER, *OF_GROUP, *OF_ANY_GROUP, ANOMALY)


def any_group_rules(*, promised: bool) -> tuple[Rule, ...]:
    """Those on all groups that can have data; `promised`: some group may have an SLA."""
    return OF_ANY_GROUP if promised else (ANY_GROUP, ANY_LOSS)


def reporter_rules(*, paused: bool, published: bool) -> tuple[Rule, ...]:
    """Those on the reporter that can have data: none of its own where no sink publishes them.

    A paused cluster has no heartbeat to miss.
    """
    own = [rule for rule in OF_REPORTER if rule.namespace is None and not published]
    return tuple(
        rule for rule in OF_REPORTER if rule not in own and not (paused and rule is HEARTBEAT)
    )
