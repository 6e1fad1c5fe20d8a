# SPDX-License-Identifier: Apache-2.0
"""The sinks that a document can choose, before anything of them is made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from kafka_lag.sinks.budget import Levels

EMF, CLOUDWATCH = NAMED = ("emf", "cloudwatch")


@dataclass(frozen=True, slots=True)
class Otlp:
    """An OTLP endpoint over HTTP, its whole URL; None: CloudWatch's own in the function's region.

    `headers_secret` names a secret whose JSON object holds headers to send; `sigv4` signs with
    the function's role instead. `levels` choose what it gets; None: what the cluster's choose.
    """

    endpoint: str | None = None
    headers_secret: str | None = None
    sigv4: bool = False
    levels: Levels | None = None


Choice: TypeAlias = str | Otlp
