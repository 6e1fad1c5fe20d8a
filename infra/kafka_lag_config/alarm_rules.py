# SPDX-License-Identifier: Apache-2.0
"""Every alarm as data, without CDK: when it fires, what missing data means, what to do first.

All read Maximum: embedded metrics may be delivered twice, and of Lambda's and Logs' own counts it
is at least 1 whenever anything was counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from math import ceil

from kafka_lag import contract
from kafka_lag.contract.dimensions import dimension_value
from kafka_lag.contract.mute_windows import MuteWindow
from kafka_lag.lag.group_settings import Objective
from kafka_lag.sinks.config import EMF
from kafka_lag_config.facts import ClusterFacts
from kafka_lag_config.faults import Fault, unknown
from kafka_lag_config.mute import MOST_ALARMS, MuteKeys
from kafka_lag_config.physical_names import alarm_name


class Operator(Enum):
    """Comparisons of a value with the threshold: as people write them, and CloudFormation does."""

    AT_LEAST = ">=", "GreaterThanOrEqualToThreshold"
    ABOVE = ">", "GreaterThanThreshold"
    BELOW = "<", "LessThanThreshold"

    def __init__(self, sign: str, word: str) -> None:
        self.sign = sign
        self.word = word


class Missing(Enum):
    """Treatments of a period without a value, in CloudWatch's words.

    MISSING makes it INSUFFICIENT_DATA, which sends nothing: no false alarm and no false recovery.
    BREACHING is for what must come regularly. NOT_BREACHING is for counts that AWS publishes only
    when there is something to count, where no value is none. IGNORE keeps the state: a count over
    hours is not reached by a few bad minutes beside long gaps, and not over while nothing is known.
    """

    MISSING = "missing"
    IGNORE = "ignore"
    BREACHING = "breaching"
    NOT_BREACHING = "notBreaching"


# Percent of a broker's disk and processor from which on AWS advises to act
# [MSK developer guide, "Best practices"].
FULL_PERCENT, BUSY_PERCENT = 85, 60

LAMBDA, LOGS, MSK = "AWS/Lambda", "AWS/Logs", "AWS/Kafka"

# Alarms on named groups in a stack, which holds 500 resources and a megabyte, two kilobytes each.
_MOST_NAMED = 300

# A Metrics Insights alarm sees no older data [CloudWatch user guide, alarm limits].
_QUERY_MINUTES = 180

# Characters of an expression [botocore cloudwatch MetricExpression].
_LONGEST = 2048
_UNSURE = frozenset("'\"\\")

_CLUSTER, _GROUP = f'"{contract.DIMENSION_CLUSTER}"', f'"{contract.DIMENSION_GROUP}"'
_GROUP_BY = f"GROUP BY {_CLUSTER},{_GROUP}"

# Who is told by an alarm: somebody who is woken, or somebody who reads it by day.
URGENT, NOTICE = "urgent", "notice"

# A saved query, by its title in Athena.
GROUP_NOW = "Group: what is wrong with it now"
BY_MEMBER = "Consumers: which member or host lags"
_NOW = f"Athena's saved query '{GROUP_NOW}'"
_WHERE = f"Athena's saved query '{BY_MEMBER}' says where."
_CONTRIBUTOR = "The alarm's message names the group, as its contributor."
_SECONDS = "The value is the number of seconds until then; 0 means now."
# What makes a group ERR.
_ERR = (
    "has stopped, is stalled, was set back, or has a commit beyond the end of the log; or the "
    "group lost records"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One kind of alarm; `name` is a part of alarm names and its heading in the documentation.

    `datapoints` of `periods` must breach; a period is `minutes`, or with None a scheduled run.
    `namespace` is None for the reporter's own. `threshold` is None where each group has its own,
    or CloudWatch learns it. `warm_up` alarms are not evaluated before data can be there. `counts`:
    of faults, whose end is no news, and of which a first deploy would send each: no OK is sent.
    `severity` is URGENT, NOTICE, or `none` where the configuration sends it to nobody.
    """

    name: str
    metric: str
    meaning: str
    to_do: str
    operator: Operator = Operator.AT_LEAST
    threshold: float | None = 1
    datapoints: int = 3
    periods: int = 5
    missing: Missing = Missing.MISSING
    namespace: str | None = None
    minutes: int | None = None
    warm_up: bool = False
    counts: bool = False
    severity: str = NOTICE


HEARTBEAT = Rule(
    name="heartbeat",
    metric=contract.COLLECTOR_SUCCESS,
    operator=Operator.BELOW,
    periods=3,
    missing=Missing.BREACHING,
    meaning="No run has succeeded for a while, so alarms on groups cannot fire.",
    to_do="Read the function's log, which names the cause. If the log has no new lines, check the "
    "function's schedule.",
    warm_up=True,
    severity=URGENT,
)
ERRORS = Rule(
    name="collector-errors",
    metric="Errors",
    meaning="Runs fail again and again. They still publish the values that they could read.",
    to_do="Read the function's log. Each failed run ends with one sentence that says why.",
    namespace=LAMBDA,
    counts=True,
)
DROPPED = Rule(
    name="collector-dropped",
    metric="AsyncEventsDropped",
    missing=Missing.NOT_BREACHING,
    meaning="Runs are missing, because they failed or could not start in time.",
    to_do="If collector-errors fires, too, follow that alarm. Otherwise check the function's "
    "metric Throttles, and raise its concurrency.",
    namespace=LAMBDA,
    counts=True,
)
PARSING = Rule(
    name="emf-parsing",
    metric="EMFParsingErrors",
    missing=Missing.NOT_BREACHING,
    meaning="CloudWatch cannot read lines of metrics, so some are missing.",
    to_do="This is a fault of this software. Report it with a line of the log that contains _aws.",
    namespace=LOGS,
    counts=True,
)
VALIDATION = Rule(
    name="emf-validation",
    metric="EMFValidationErrors",
    missing=Missing.NOT_BREACHING,
    meaning="CloudWatch refuses names or values of metrics, so some are missing.",
    to_do="This is a fault of this software. Find a group that the snapshots have and CloudWatch "
    "does not, and report its name.",
    namespace=LOGS,
    counts=True,
)
READING = Rule(
    name="reading",
    metric=contract.READ_ERRORS,
    datapoints=10,
    periods=15,
    meaning="Some brokers, groups or topics could not be read for a while. All others are right.",
    to_do="The function's log names them with the reason, which is a broker that is down or a "
    "missing right.",
    counts=True,
)
OMITTED = Rule(
    name="metrics-omitted",
    metric=contract.METRICS_OMITTED,
    datapoints=10,
    periods=15,
    meaning="There are more metrics than the budget allows. Partitions are left out first, then "
    "topics and groups; a group that is left out has no alarm.",
    to_do="Deny groups and topics that nobody needs, or raise levels.max_metrics.",
    counts=True,
)
STATUS = Rule(
    name="status",
    metric=contract.GROUP_STATUS,
    threshold=contract.GROUP_STATUS_VALUES[contract.ERR],
    meaning=f"The group's consumer {_ERR}.",
    to_do=f"Look at the consumer. {_NOW} names the reason, topic and partition.",
    severity=URGENT,
)
SLA = Rule(
    name="sla",
    metric=contract.ESTIMATED_TIME_LAG,
    operator=Operator.ABOVE,
    threshold=None,
    meaning="The group's SLA is broken: its oldest unread record is older than sla_seconds.",
    to_do="Check on the dashboard (GroupStatus) that the group still reads. Then add members, or "
    f"find the slow step. {_WHERE}",
    severity=URGENT,
)
LOSS = Rule(
    name="data-loss",
    metric=contract.TIME_TO_DATA_LOSS,
    operator=Operator.BELOW,
    threshold=contract.NO_LOSS_SECONDS,
    meaning="Retention deletes records that the group has not read, or will do so soon. "
    f"{_SECONDS} 30 days means that no record is at risk within risk_horizon_hours (24).",
    to_do="First raise retention.ms or retention.bytes of the topic. Then repair the group. "
    f"{_NOW} names the topic.",
    severity=URGENT,
)
ANY_GROUP = Rule(
    name="any-group",
    metric=contract.GROUP_STATUS,
    threshold=contract.GROUP_STATUS_VALUES[contract.ERR],
    meaning=f"The consumer of a group {_ERR}.",
    to_do=f"{_CONTRIBUTOR} Ask the group's owner. If nobody needs the group, add it to "
    f"groups.deny. {_NOW} names the reason, topic and partition.",
    severity=URGENT,
)
ANY_SLA = Rule(
    name="any-sla",
    metric=contract.SLA_USED,
    operator=Operator.ABOVE,
    meaning="An SLA is broken: the oldest unread record of a group is older than its sla_seconds. "
    "The value is the age divided by sla_seconds.",
    to_do=f"{_CONTRIBUTOR} {_WHERE}",
    severity=URGENT,
)
ANY_LOSS = Rule(
    name="any-loss",
    metric=contract.TIME_TO_DATA_LOSS,
    operator=Operator.BELOW,
    threshold=contract.NO_LOSS_SECONDS,
    meaning=f"Retention deletes records that a group has not read, or will do so soon. {_SECONDS}",
    to_do=f"{_CONTRIBUTOR} First raise retention.ms or retention.bytes of the topic. "
    f"{_NOW} names the topic.",
    severity=URGENT,
)
ANY_UNUSUAL = Rule(
    name="any-unusual",
    metric=contract.UNUSUAL,
    meaning="A group's lag, time lag or write rate is far from the usual value of this hour of the "
    "week. This may be harmless: the alarm looks at no SLA.",
    to_do=f"{_CONTRIBUTOR} Check on the status page whether more or less is written than usual, or "
    "less is read.",
)
ANOMALY = Rule(
    name="anomaly",
    metric=contract.ESTIMATED_TIME_LAG,
    operator=Operator.ABOVE,
    threshold=None,
    datapoints=10,
    periods=15,
    meaning="The group is farther behind than usual at this hour of the week. This may be "
    "harmless: the alarm looks at no SLA.",
    to_do="Compare the time lag with that of last week.",
)

OFFSET_LAG = Rule(
    name="offset-lag",
    metric=contract.OFFSET_LAG,
    operator=Operator.ABOVE,
    threshold=None,
    meaning="The group has more unread records than alarms.offset_lag allows.",
    to_do=f"Check on the dashboard that it catches up. If it does not, add members. {_WHERE}",
    severity=URGENT,
)
BROKER_DISK = Rule(
    name="broker-disk",
    metric="KafkaDataLogsDiskUsed",
    threshold=FULL_PERCENT,
    datapoints=10,
    periods=15,
    meaning="The disk of a broker is 85 % full or more. At 100 % the broker stops.",
    to_do="Enlarge the disks, or shorten the retention of the largest topics.",
    namespace=MSK,
    minutes=1,
)
# `CpuIdle` and not CpuUser + CpuSystem, of which no query gives the sum by broker.
BROKER_CPU = Rule(
    name="broker-cpu",
    metric="CpuIdle",
    operator=Operator.BELOW,
    threshold=100 - BUSY_PERCENT,
    datapoints=10,
    periods=15,
    meaning="The busiest broker uses more than 60 % of its processor. AWS advises 60 % at most, "
    "because the other brokers take over the work of a broker that fails.",
    to_do="Find the broker that leads most partitions. Move some of them, or take larger brokers.",
    namespace=MSK,
    minutes=1,
)
# A day, and two hours for the run.
REPORT_MISSING = Rule(
    name="report-missing",
    metric=contract.DAILY_REPORT_SUCCESS,
    operator=Operator.BELOW,
    datapoints=26,
    periods=26,
    missing=Missing.BREACHING,
    meaning="No scheduled run of the daily report has succeeded for 26 hours.",
    to_do="Look at the job's runs in Glue. If a run failed, its log says why. If there is no run, "
    "the job's trigger is switched off, or the job waits or was deleted.",
    minutes=60,
    warm_up=True,
)
# Not on the queue of failed events, which nobody empties: an alarm on it would stay on for days.
MESSAGES_DROPPED = Rule(
    name="messages-dropped",
    metric="AsyncEventsDropped",
    datapoints=1,
    periods=1,
    missing=Missing.NOT_BREACHING,
    meaning="At least one status message could not be sent in three attempts.",
    to_do="Read the function's log, which says whether the bucket, the topic or the event bus did "
    "not answer. The messages are sent once the cause is repaired.",
    namespace=LAMBDA,
    # Whatever the interval of the clusters: an event is dropped only after it failed three times.
    minutes=15,
)
MESSAGES_SILENT = Rule(
    name="messages-silent",
    metric="Invocations",
    operator=Operator.BELOW,
    datapoints=2,
    periods=2,
    missing=Missing.BREACHING,
    meaning="No snapshot has started the status messages for two hours, so none are sent.",
    to_do="If a heartbeat alarm fires, too, follow that alarm. Otherwise check that the bucket "
    "sends its events to EventBridge.",
    namespace=LAMBDA,
    minutes=60,
    warm_up=True,
)

# An objective's budget is used up so many times as fast as it may be: an hour takes 2 % of that of
# 30 days, and six hours 5 % [Site Reliability Workbook, "Alerting on SLOs"]. How many of an alarm's
# periods must be broken follows from the target, see `burn_rules`.
_BURN_FAST, _BURN_SLOW = 14.4, 6.0
_FAST_MINUTES, _SLOW_MINUTES = 60, 360
# As two bad runs are no incident.
_LEAST_BROKEN = 3
SLO_FAST = Rule(
    name="slo-fast",
    metric=contract.ESTIMATED_TIME_LAG,
    operator=Operator.ABOVE,
    threshold=None,
    datapoints=_LEAST_BROKEN,
    periods=_FAST_MINUTES,
    missing=Missing.IGNORE,
    meaning="The error budget of the group's SLO burns 14.4 times too fast: the last hour used up "
    "2 % of a budget of 30 days.",
    to_do="Do what the alarm sla says. The report's table slo shows the rest of the budget.",
    severity=URGENT,
)
SLO_SLOW = replace(
    SLO_FAST,
    name="slo-slow",
    periods=_SLOW_MINUTES,
    meaning="The error budget of the group's SLO burns 6 times too fast: the last six hours used "
    "up 5 % of a budget of 30 days.",
)

# ECS and CodeDeploy read its state, and it reaches nobody. Four of five runs: a rollout of a group
# that stops at each rebalance is as late in three.
RELEASE = Rule(
    name="release-risk",
    metric=contract.RELEASE_RISK,
    datapoints=4,
    meaning="Since the group's members began to change, partitions have stopped or are farther "
    "behind than in the hour before, or the group skipped records or went back.",
    to_do="If the service's deployment names this alarm, it is rolled back. Look at the log of the "
    "new release.",
    severity="none",
)

OF_REPORTER = (HEARTBEAT, ERRORS, DROPPED, PARSING, VALIDATION, READING, OMITTED)
OF_GROUP = (STATUS, SLA, LOSS, SLO_FAST, SLO_SLOW, OFFSET_LAG)
OF_ANY_GROUP = (ANY_GROUP, ANY_SLA, ANY_LOSS)
OF_BROKERS = (BROKER_DISK, BROKER_CPU)
# Those of a cluster and of the daily report.
RULES = (
    *(*OF_REPORTER, *OF_GROUP, *OF_ANY_GROUP, ANY_UNUSUAL, ANOMALY, RELEASE),
    *(*OF_BROKERS, REPORT_MISSING),
)
OF_MESSAGES = (MESSAGES_DROPPED, MESSAGES_SILENT)
# Mute windows can silence these: not the reporter's own alarms, nor those that scale or roll back.
_MUTABLE = frozenset(rule.name for rule in (*OF_GROUP, *OF_ANY_GROUP))
_OF_LOSS = (LOSS.name, ANY_LOSS.name)


def configured(cluster: ClusterFacts, rule: Rule) -> Rule:
    """The rule with what the configuration says otherwise of it."""
    change = cluster.alarms.rules.get(rule.name)
    if change is None:
        return rule
    given = change.model_dump(exclude_none=True)
    return replace(rule, severity=given.pop("action", rule.severity), **given)


def find_alarm_faults(cluster: ClusterFacts) -> Iterator[Fault]:
    """Yield faults of what the configuration says otherwise of rules."""
    known = {rule.name: rule for rule in RULES if rule is not REPORT_MISSING}
    for name, change in cluster.alarms.rules.items():
        place = ("alarms", "rules", name)
        if name not in known:
            yield Fault(place, unknown(name, known))
            continue
        rule = configured(cluster, known[name])
        if rule.datapoints > rule.periods:
            yield Fault(place, f"{rule.datapoints} of {rule.periods} runs are never reached")
        if change.threshold is not None and known[name].threshold is None:
            yield Fault((*place, "threshold"), "each group has its own: leave it out")
    # Of what is usual the alarm, and what learns.
    named = sum(2 if rule.name == ANOMALY.name else 1 for _, rule, _ in group_rules(cluster))
    named += len(cluster.alarms.deployments)
    if named > _MOST_NAMED:
        yield Fault(
            ("alarms",),
            f"the groups named there have {named:,} alarms, and a stack holds {_MOST_NAMED}: name "
            "fewer. any_group watches all others, and of them status_messages page the people of "
            "notify.owners",
        )


def full_name(deployment: str, word: str, rule: Rule, group: str | None = None) -> str:
    """`<deployment>/<cluster>/<severity>/<rule>`, and the group: the name of an alarm.

    The rule is as `configured`; `word` is the cluster's name, or what stands for it.
    """
    behind = [] if group is None else [dimension_value(group)]
    return alarm_name(deployment, word, rule.severity, rule.name, *behind)


def group_thresholds(cluster: ClusterFacts) -> Iterator[tuple[str, Rule, float | None]]:
    """Each alarm on a named group: the group, its rule, and the threshold where that has none."""
    for group in cluster.alarms.groups:
        yield group, configured(cluster, STATUS), None
        yield group, configured(cluster, LOSS), None
        if (sla := cluster.settings.sla_of(group)) is not None:
            yield group, sla_rule(cluster, group), sla
        if (objective := cluster.settings.objective_of(group)) is not None:
            for rule in burn_rules(objective, cluster.settings.interval_minutes):
                yield group, configured(cluster, rule), objective.age_seconds
    for group, records in cluster.alarms.offset_lag.items():
        yield group, configured(cluster, OFFSET_LAG), records


def is_muted(window: MuteWindow, rule: Rule, group: str | None) -> bool:
    """Return true if a window mutes the alarm of a rule, of any group if `group` is None.

    CloudWatch mutes a query for all its groups at once, so only a window for all groups does.
    """
    if rule.name not in _MUTABLE or rule.severity != URGENT:
        return False
    if rule.name in _OF_LOSS and not window.losses:
        return False
    return window.groups is None if group is None else window.mutes(group)


def muted_alarms(cluster: ClusterFacts, deployment: str) -> Iterator[tuple[MuteKeys, list[str]]]:
    """Yield each window with the names of the alarms that it mutes, a hundred at most at a time."""
    alarms: list[tuple[Rule, str | None]] = [(rule, None) for rule in query_rules(cluster)]
    alarms += [(rule, group) for group, rule, _ in group_thresholds(cluster)]
    for keys in cluster.settings.mute:
        window = keys.window
        names = [
            full_name(deployment, cluster.name, rule, group)
            for rule, group in alarms
            if is_muted(window, rule, group)
        ]
        for first in range(0, len(names), MOST_ALARMS):
            yield keys, names[first : first + MOST_ALARMS]


def sla_rule(cluster: ClusterFacts, group: str) -> Rule:
    """Returns the rule on a group's SLA, in as many runs as the configuration says."""
    runs, rule = cluster.alarms.sla_runs.get(group), configured(cluster, SLA)
    if runs is None:
        return rule
    return replace(rule, datapoints=runs.datapoints, periods=runs.periods)


def burn_rules(objective: Objective, interval_minutes: int) -> Iterator[Rule]:
    """Yield the reachable rules on how fast an objective's error budget is used up.

    A rate that all of the window must be broken for, and more, pages for nothing else than SLA.
    """
    for rule, rate in ((SLO_FAST, _BURN_FAST), (SLO_SLOW, _BURN_SLOW)):
        periods = rule.periods // interval_minutes
        # What is a whole number but for the last digit of a double is that.
        broken = ceil(round(rate * (100 - objective.target) / 100 * periods, 6))
        datapoints = max(broken, _LEAST_BROKEN)
        if datapoints <= periods:
            yield replace(rule, datapoints=datapoints, periods=periods)


def group_rules(cluster: ClusterFacts) -> Iterator[tuple[str, Rule, float | None]]:
    """The same with those on what is usual, which CloudWatch learns, at the end."""
    yield from group_thresholds(cluster)
    for group in cluster.alarms.anomalies:
        yield group, configured(cluster, ANOMALY), None


def deployment_rules(cluster: ClusterFacts) -> Iterator[tuple[str, Rule]]:
    """Yield each group whose bad releases are rolled back, and the rule of its alarm."""
    for group in cluster.alarms.deployments:
        yield group, configured(cluster, RELEASE)


def query_rules(cluster: ClusterFacts) -> Iterator[Rule]:
    """Yield the rules that watch all groups at once and can have data."""
    if cluster.watches_any_group:
        rules = OF_ANY_GROUP if cluster.settings.sla_seconds else (ANY_GROUP, ANY_LOSS)
        yield from (configured(cluster, rule) for rule in rules)
    if cluster.watches_unusual:
        yield configured(cluster, ANY_UNUSUAL)


def reporter_rules(cluster: ClusterFacts) -> tuple[Rule, ...]:
    """Return the rules on the reporter that can have data.

    Without a sink into CloudWatch, none of its own; without EMF, none on how CloudWatch reads it. A
    paused cluster has no heartbeat to miss.
    """
    sinks, paused = cluster.settings.sink_names, cluster.settings.paused
    without = {
        None: not sinks,
        LOGS: EMF not in sinks,
    }
    return tuple(
        configured(cluster, rule)
        for rule in OF_REPORTER
        if not without.get(rule.namespace) and not (paused and rule is HEARTBEAT)
    )


def within_sight(rule: Rule, interval_minutes: int) -> Rule:
    """The rule with no more runs than a query's alarm can see."""
    periods = min(rule.periods, _QUERY_MINUTES // interval_minutes)
    return replace(rule, periods=periods, datapoints=min(rule.datapoints, periods))


def query_groups(rule: Rule, namespace: str, cluster: str, named: Sequence[str]) -> str:
    """Return the Metrics Insights query of an alarm on all groups.

    Exactly the level of groups: a plain FROM would bill topics and partitions as well. The
    `named` groups page for themselves, so those of `left_out` are not asked for.
    """
    conditions = map(_condition, left_out(rule, namespace, cluster, named))
    return " ".join((_select(rule, namespace, cluster), *conditions, _order(rule)))


def left_out(rule: Rule, namespace: str, cluster: str, named: Sequence[str]) -> tuple[str, ...]:
    """Return the named groups that the query leaves out, as many as it has room for.

    One whose name holds a quotation mark or a backslash stays in: how those are written in a
    value is not documented.
    """
    room = _LONGEST - len(f"{_select(rule, namespace, cluster)} {_order(rule)}")
    found: list[str] = []
    for group in named:
        needed = len(_condition(group)) + len(" ")
        if needed <= room and not _UNSURE & set(dimension_value(group)):
            found.append(group)
            room -= needed
    return tuple(found)


def query_brokers(rule: Rule, msk_name: str) -> str:
    """The worst broker of an MSK cluster, by MSK's own metrics."""
    worst = "MIN" if rule.operator is Operator.BELOW else "MAX"
    clauses = (
        f"SELECT {worst}({rule.metric})",
        f'FROM SCHEMA("{rule.namespace}","Broker ID",{_CLUSTER})',
        f"WHERE {_CLUSTER}='{msk_name}'",
    )
    return " ".join(clauses)


def broker_rules(cluster: ClusterFacts) -> tuple[Rule, ...]:
    """Return the rules on MSK's broker metrics; Express and Serverless have no disks to watch."""
    if not cluster.watches_brokers:
        return ()
    rules = OF_BROKERS if cluster.has_disks else (BROKER_CPU,)
    return tuple(configured(cluster, rule) for rule in rules)


def _order(rule: Rule) -> str:
    """The worst first, as of more than 500 groups the rest is not seen."""
    worst = "ASC" if rule.operator is Operator.BELOW else "DESC"
    return f"{_GROUP_BY} ORDER BY MAX() {worst}"


def _select(rule: Rule, namespace: str, cluster: str) -> str:
    clauses = (
        f"SELECT MAX({rule.metric})",
        f'FROM SCHEMA("{namespace}",{_CLUSTER},{_GROUP})',
        f"WHERE {_CLUSTER}='{cluster}'",
    )
    return " ".join(clauses)


def _condition(group: str) -> str:
    return f"AND {_GROUP}!='{dimension_value(group)}'"
