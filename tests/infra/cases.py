# SPDX-License-Identifier: Apache-2.0
"""Golden files that are also a table of cases: a case is a line, its answer the lines below."""

from __future__ import annotations

import re
from typing import Any

from tests.golden import FOLDER
from tests.infra.configured import KEY, SECRET, SERVICE, STEPS, cluster_json, moved
from tests.infra.options import EVERYBODY

# What cases name with "=" before it.
NAMED: dict[str, Any] = {
    "=account": "111122223333",
    "=arn": cluster_json()["arn"],
    "=key": KEY,
    "=secret": SECRET,
    "=steps": {**SERVICE, "max": 8, "steps": STEPS},
    "=tracking": {**SERVICE, "max": 8, "tracking": {"lag_per_member": 10}},
    "=tasks": {**SERVICE, "max": 8, "tasks": {}},
    "=vpc": cluster_json()["vpc"],
    "=slack": EVERYBODY["slack"][0],
    "=teams": EVERYBODY["teams"][0],
}


def meant(given: Any) -> Any:
    """A case with what it names; `{"=": NAME, ...}` is that with changes, "=x*9" nine times x."""
    if isinstance(given, list):
        return [meant(each) for each in given]
    if isinstance(given, dict):
        inner = {key: meant(value) for key, value in given.items()}
        return {**NAMED[f"={inner.pop('=')}"], **inner} if "=" in inner else inner
    if isinstance(given, str) and (repeated := re.fullmatch(r"=(.+)\*(\d+)", given)):
        return repeated[1] * int(repeated[2])
    return NAMED.get(given, given) if isinstance(given, str) else given


def read_cases(table: str) -> tuple[str, list[str]]:
    """The comment at the head of a table, and its cases, each of which stands once."""
    lines = (FOLDER / table).read_text().splitlines()
    cases = [line for line in lines if line and not line.startswith((" ", "#"))]
    assert len(cases) == len(set(cases)), "a case stands twice"
    return "\n".join(line for line in lines if line.startswith("#")), cases


def changed(without: tuple[str, ...] = (), to: str | None = None, **changes: Any) -> dict[str, Any]:
    """The good cluster with these changes, without these keys, in the region `to`."""
    found = {key: value for key, value in cluster_json(**changes).items() if key not in without}
    return moved(found, to) if to else found
