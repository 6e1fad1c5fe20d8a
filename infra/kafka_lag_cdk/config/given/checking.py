# SPDX-License-Identifier: Apache-2.0
"""What a cluster's object can be checked for whatever else is wrong with it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from kafka_lag.schema.authorities import authorities_fault
from kafka_lag_cdk.config.document import KEYS, document_faults
from kafka_lag_cdk.config.faults import Fault

_FOLLOWS = "follows from auth; leave it out"
# The collector's words for what a cluster says otherwise, and ours for all of its words.
MISPLACED = {
    "cluster": "write name",
    "cafile": "write ca_file",
    "security_protocol": _FOLLOWS,
    "sasl_mechanism": _FOLLOWS,
    "secret_id": _FOLLOWS,
    "collector": "unknown key",
}

_LARGEST_MINUTES = 60
# Lambda ends the function after 55 s, and what was read has to be written by then.
_LONGEST_RUN = 50


def cluster_faults(given: Mapping[str, Any], folder: Path) -> Iterator[Fault]:
    """What types do not tell: the collector's keys, and the file, seen from `folder`."""
    yield from (Fault((key,), told) for key, told in MISPLACED.items() if key in given)
    collector = {key: value for key, value in given.items() if key in KEYS}
    unread = document_faults(collector)
    yield from unread
    wrong = {fault.place for fault in unread}
    for fault in (*_interval(collector), *_deadline(collector)):
        if fault.place not in wrong:
            yield fault
    yield from _ca_file(given.get("ca_file"), folder)


def _interval(collector: Mapping[str, Any]) -> Iterator[Fault]:
    seconds = collector.get("interval_seconds")
    if isinstance(seconds, int | float) and seconds > 0:
        minutes = seconds / 60
        if minutes % 1 or _LARGEST_MINUTES % minutes:
            yield Fault(("interval_seconds",), "must be whole minutes that divide an hour")


def _deadline(collector: Mapping[str, Any]) -> Iterator[Fault]:
    seconds = collector.get("deadline_seconds")
    if isinstance(seconds, int | float) and seconds > _LONGEST_RUN:
        told = f"must be at most {_LONGEST_RUN}, as the function is ended after 55 seconds"
        yield Fault(("deadline_seconds",), told)


def _ca_file(name: Any, folder: Path) -> Iterator[Fault]:
    if not isinstance(name, str) or not name.isprintable() or name != name.strip() or not name:
        return
    fault = authorities_fault(folder / name, name)
    if fault:
        yield Fault(("ca_file",), fault)
