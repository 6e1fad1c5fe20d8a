# SPDX-License-Identifier: Apache-2.0
"""What alarms and their constructs are called: readable, legal, and no two alike."""

from __future__ import annotations

import hashlib
import re

from functions.sinks.names import dimension_value
from infra.alarms.rules import Rule

PREFIX = "kafka-lag"

# CloudWatch takes no longer name [botocore cloudwatch PutMetricAlarm].
_LONGEST = 255
_DIGEST = 12
_READABLE = 20


def alarm_name(cluster: str, rule: Rule, group: str | None = None) -> str:
    """`kafka-lag/<cluster>/<rule>/<group>`, the group as metrics have it.

    A name that would be too long ends in '%~' and a digest, which no other name can end in.
    """
    parts = [PREFIX, cluster, rule.name, *([] if group is None else [dimension_value(group)])]
    name = "/".join(parts)
    if len(name) <= _LONGEST:
        return name
    return f"{name[: _LONGEST - _DIGEST - 2]}%~{digest(name)}"


def construct_id(word: str, name: str) -> str:
    """A construct's id for something strangers named: a word, some of the name, a digest."""
    readable = re.sub(r"[^A-Za-z0-9]", "", name)[:_READABLE]
    return "-".join(part for part in (word, readable, digest(name)) if part)


def digest(text: str) -> str:
    """Twelve hexadecimal digits that stay the same."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST]
