# SPDX-License-Identifier: Apache-2.0
"""What the alarms over all groups ask CloudWatch, and which groups it has no room to leave out.

Without CDK, as the bill counts the groups that the query looks at.
"""

from __future__ import annotations

from collections.abc import Sequence

from kafka_lag import contract
from kafka_lag.contract.dimensions import dimension_value
from kafka_lag_cdk.alarms.rules import Operator, Rule

# Characters of an expression [botocore cloudwatch MetricExpression].
_LONGEST = 2048
_UNSURE = frozenset("'\"\\")

_CLUSTER, _GROUP = f'"{contract.DIMENSION_CLUSTER}"', f'"{contract.DIMENSION_GROUP}"'
_GROUP_BY = f"GROUP BY {_CLUSTER},{_GROUP}"


def query(rule: Rule, namespace: str, cluster: str, named: Sequence[str]) -> str:
    """Exactly the level of groups: a plain FROM would bill topics and partitions as well.

    The `named` groups page for themselves, so those of `left_out` are not asked for.
    """
    conditions = map(_condition, left_out(rule, namespace, cluster, named))
    return " ".join((_select(rule, namespace, cluster), *conditions, _order(rule)))


def left_out(rule: Rule, namespace: str, cluster: str, named: Sequence[str]) -> tuple[str, ...]:
    """Those of the named groups that the query leaves out, as many as it has room for.

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
