# SPDX-License-Identifier: Apache-2.0
"""What configurations use and cost in a month, and what is said of that.

`tests/golden/cost.txt` is table and answer: after the first case stand only the lines that differ
from it. A line that stands above for the same item is named by that after `as above`, and one that
the first case alone has after `without`. A case more is a line more, then `pytest --golden-renew`.
"""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Iterable, Iterator

from kafka_lag_config.cost.cost import Line, sum_usd
from tests.golden import Golden
from tests.infra.cases import changed, meant, read_cases
from tests.infra.cost.documents import cost

TABLE = "cost.txt"
WIDTH = 100


def test_what_each_configuration_costs(golden: Golden) -> None:
    head, cases = read_cases(TABLE)
    parts, plain, above = [head], dict[str, str](), dict[str, str]()
    for case in cases:
        lines = {_item(line): line for line in lines_of(case)}
        other = {item: line for item, line in lines.items() if plain.get(item) != line}
        again = [item for item, line in other.items() if above.get(item) == line]
        parts += [case, *(f"  {line}" for item, line in other.items() if item not in again)]
        parts += _named("as above", again)
        parts += _named("without", plain.keys() - lines.keys())
        plain, above = plain or lines, {**above, **(other if plain else {})}
    golden.holds(TABLE, "\n".join(parts))


def _item(line: str) -> str:
    """What a line is about: a part of the bill, or whose sizes are guesses."""
    return re.split(" = |: sizes that are", line, maxsplit=1)[0]


def _named(words: str, items: Iterable[str]) -> Iterator[str]:
    text = "; ".join(sorted(items))
    if text:
        yield from textwrap.wrap(
            f"{words} {text}", WIDTH, initial_indent="  ", subsequent_indent="    "
        )


def lines_of(case: str) -> list[str]:
    """Each line of the first cluster, the sums of others, what they share, and the warnings."""
    given = meant(json.loads(case))
    clusters = [changed(**each) for each in given.pop("clusters", [{}])]
    found = cost(*clusters, **given)
    lines = list[str]()
    places = {line.region for line in found.lines}
    for region in sorted(places):
        place = f" in {region}" if len(places) > 1 else ""
        here = [line for line in found.lines if line.region == region]
        # Tiers of prices are shared.
        first, *more = dict.fromkeys(each.cluster for each in here if each.cluster)
        lines += _list(f"one{place}", [line for line in here if line.cluster == first])
        for name in more:
            own = sum_usd(line for line in here if line.cluster == name)
            lines.append(f"{name}{place} = ${own:,.2f}")
        lines += _list(f"shared{place}", [line for line in here if line.cluster is None])
    return lines + [f"warning: {each}" for each in found.warnings]


def _list(whose: str, lines: Iterable[Line]) -> Iterator[str]:
    for line in lines:
        yield f"{whose}: {line.part} = ${line.usd:,.4f}, most of {line.units:.6g} {line.unit}"
