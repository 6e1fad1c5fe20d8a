# SPDX-License-Identifier: Apache-2.0
"""What configurations use and cost in a month, and what is said of that.

`tests/golden/cost.txt` is table and answer: after the first case stand only the lines that differ
from it. A case more is a line more, then `make golden`.
"""

from __future__ import annotations

import json

from kafka_lag_cdk.cost.cost import Line
from tests.golden import Golden
from tests.infra.cases import changed, meant, read_cases
from tests.infra.cost.documents import cost

TABLE = "cost.txt"


def test_what_each_configuration_costs(golden: Golden) -> None:
    head, cases = read_cases(TABLE)
    parts, plain = [head], list[str]()
    for case in cases:
        lines = lines_of(case)
        parts += [case, *(f"  {line}" for line in lines if line not in plain)]
        parts += [f"  without {line}" for line in plain if _item(line) not in map(_item, lines)]
        plain = plain or lines
    golden.holds(TABLE, "\n".join(parts))


def _item(line: str) -> str:
    return line.partition(" = ")[0]


def lines_of(case: str) -> list[str]:
    """Each line of a case by service and item, the sums, and the warnings."""
    given = meant(json.loads(case))
    clusters = [changed(**each) for each in given.pop("clusters", [{}])]
    found = cost(*clusters, **given)
    lines = []
    for region in found.regions:
        place = f" in {region.region}" if len(found.regions) > 1 else ""
        # One cluster's lines; of others the sums, in which tiers are shared.
        lines += [_told(f"one{place}: {_name(line)}", line) for line in region.clusters[0].lines]
        lines += [f"{one.cluster.name}{place} = ${one.usd:,.2f}" for one in region.clusters]
        lines += [_told(f"shared{place}: {_name(line)}", line) for line in region.shared]
        if region.msk_level:
            lines.append(_told(f"beside{place}", region.msk_level))
        lines.append(f"all{place} = ${region.usd:,.2f} at prices of {region.prices_of}")
    return lines + [f"warning: {each}" for each in found.warnings]


def _name(line: Line) -> str:
    return f"{line.service}: {line.item}"


def _told(name: str, line: Line) -> str:
    units = f"{line.quantity:.6g} {line.unit}"
    return f"{name} = {units}, {line.basis}; ${line.usd:,.4f} by {line.price}, {line.lever}"
