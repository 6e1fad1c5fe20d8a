# SPDX-License-Identifier: Apache-2.0
"""Values that look right and would do nothing, or fail when they are deployed."""

from __future__ import annotations

from typing import Any

import pytest

from tests.infra.config.refused import refused_cluster
from tests.infra.configured import SERVICE, STEPS, cluster, cluster_json

EXACT = (
    "is taken for a group's exact name and looks like an expression; expressions are for "
    "groups.allow and sla_seconds"
)
EXPRESSIONS = ["^billing", "billing$", "bill.*", "b.+g", r"bill\d"]


@pytest.mark.parametrize("group", EXPRESSIONS)
@pytest.mark.parametrize("key", ["groups", "anomalies"])
def test_an_expression_is_no_name_of_a_group_with_alarms(key: str, group: str) -> None:
    assert refused_cluster(alarms={key: ["ok", group]}) == (f"alarms.{key}[1]: {EXACT}",)


@pytest.mark.parametrize("group", EXPRESSIONS)
def test_an_expression_is_no_name_of_a_group_to_scale_by(group: str) -> None:
    scaling = [{**SERVICE, "max": 8, "steps": STEPS, "group": group}]
    assert refused_cluster(scaling=scaling) == (f"scaling[0].group: {EXACT}",)


@pytest.mark.parametrize(
    "group", ["a.b", "team|app", "app[prod]", "app (old)", "a$b", "a^b", "a+b", "a*", "100%?"]
)
def test_a_name_may_hold_what_kafka_lets_it(group: str) -> None:
    assert cluster(alarms={"groups": [group]}).alarms.groups == (group,)


@pytest.mark.parametrize("port", ["0", "65536", "99999"])
def test_a_port_that_cannot_be_is_refused(port: str) -> None:
    message = refused_cluster(bootstrap_servers=["b-1:9092", f"b-2:{port}"])
    assert message == ("bootstrap_servers[1]: must be host:port, with a port of 1 to 65535",)


@pytest.mark.parametrize("port", ["1", "65535"])
def test_any_other_port_is_taken(port: str) -> None:
    assert cluster(bootstrap_servers=[f"b-1:{port}"]).ports == ((int(port), int(port)),)


def in_vpc(**changes: Any) -> dict[str, Any]:
    vpc: dict[str, Any] = cluster_json()["vpc"] | changes
    return vpc


@pytest.mark.parametrize(
    "cidr",
    ["10.0.0.0", "10.0.0.0/33", "999.0.0.0/16", "10.0.0.1/16", "fd00::/8", "10.0.0.0/255.0.0.0"],
)
def test_what_is_no_range_of_addresses_is_refused(cidr: str) -> None:
    assert refused_cluster(vpc=in_vpc(cidr=cidr)) == (
        "vpc.cidr: must be a range of addresses, such as 10.0.0.0/16",
    )


def test_a_range_of_addresses_is_taken() -> None:
    assert cluster(vpc=in_vpc(cidr="172.31.16.0/20")).vpc.cidr == "172.31.16.0/20"


@pytest.mark.parametrize("value", ["10", True])
def test_no_text_or_truth_is_taken_for_a_number(value: object) -> None:
    scaling = [{**SERVICE, "max": 8, "tracking": {"lag_per_member": value}}]
    assert refused_cluster(scaling=scaling) == (
        "scaling[0].tracking.lag_per_member: Input should be a valid number",
    )
