# SPDX-License-Identifier: Apache-2.0
"""Requests that each program sent, by the brokers' own log of requests."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

# Brokers that log each request that they answered, one line each.
LOG_REQUESTS = "-Dorg.slf4j.simpleLogger.log.kafka.request.logger=debug"
_CLIENT = re.compile(r'"clientId":"((?:[^"\\]|\\.)*)"')
_NAME = re.compile(r'"requestApiKeyName":"(\w+)"')


class RequestLog:
    """The logs of the brokers from the moment at which this is made."""

    def __init__(self, logs: Iterable[Path]) -> None:
        self._from = {path: path.stat().st_size for path in logs}

    def counts(self) -> Mapping[str, Counter[str]]:
        """Requests by client id, by name."""
        found: dict[str, Counter[str]] = {}
        for path, begin in self._from.items():
            with path.open("rb") as log:
                log.seek(begin)
                for line in log:
                    count_line(line.decode(errors="replace"), found)
        return found


def count_line(line: str, found: dict[str, Counter[str]]) -> None:
    """Add the request of a line, if it is of one."""
    name, client = _NAME.search(line), _CLIENT.search(line)
    if "Completed request" in line and name and client:
        found.setdefault(client[1], Counter())[name[1]] += 1


def requests_of(client: str, counts: Mapping[str, Counter[str]]) -> Counter[str]:
    """Of a program with this client id, to which some add a number."""
    own = re.compile(re.escape(client) + r"(-\d+)?")
    return sum((each for name, each in counts.items() if own.fullmatch(name)), Counter())
