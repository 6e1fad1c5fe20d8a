# SPDX-License-Identifier: Apache-2.0
"""The texts about configurations: their faults, or else their warnings.

`tests/golden/configuration.txt` is both table and answer. Each line that does not begin with a
blank is a case, and the lines below it are the answer; a case without an answer is fine. To add a
case, add a line and run `pytest --golden-renew`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kafka_lag_config.document import normalised
from kafka_lag_config.doubts import find_doubts, find_shared_doubts
from kafka_lag_config.faults import ConfigurationError
from kafka_lag_config.reading import check
from tests.documents import GOOD
from tests.golden import Golden
from tests.infra.cases import changed, meant, read_cases
from tests.infra.configured import cluster_json, one_cluster

TABLE = "configuration.txt"
HERE = Path(__file__).parents[1]


def test_what_is_said_of_each_configuration(golden: Golden) -> None:
    head, cases = read_cases(TABLE)
    lines = [line for case in cases for line in (case, *(f"  {each}" for each in said_of(case)))]
    golden.holds(TABLE, "\n".join([head, *lines]))


def said_of(case: str) -> list[str]:
    """The faults of a case, or else its warnings."""
    kind, _, text = case.partition(" ")
    given = meant(json.loads(text))
    try:
        if kind == "document":
            normalised({**GOOD, **given} if isinstance(given, dict) else given)
            return []
        return list(dict.fromkeys(warnings(kind, given)))
    except ConfigurationError as error:
        return list(error.faults)


def warnings(kind: str, given: dict[str, Any]) -> Iterator[str]:
    """What is doubted of a configuration without faults."""
    if kind == "cluster":
        cluster = one_cluster(cluster_json(**given), HERE)
        yield from (f"warning: {each.sentence}" for each in find_doubts(cluster.facts))
        return
    clusters = [changed(**each) for each in given.pop("clusters", [{}])]
    whole = check({"clusters": clusters} | given, "the test", HERE)
    for place in whole.places():
        for each in find_shared_doubts(whole, *place):
            # Each case has the examples' account.
            if each.kind != "example":
                yield f"warning in {place[1]}: {each.sentence}"
