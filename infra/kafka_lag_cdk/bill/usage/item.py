# SPDX-License-Identifier: Apache-2.0
"""One quantity that AWS charges for, and how it comes about."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass

from kafka_lag_cdk.bill.usage.measured import GB, KB, MB

METRICS = "CloudWatch metrics"
ALARMS = "CloudWatch alarms"
DASHBOARD = "CloudWatch dashboard"
LOGS = "CloudWatch logs"
LAMBDA = "Lambda"
S3 = "S3"
NETWORK = "Network"
SECRETS = "Secrets"
GLUE = "Glue"
ATHENA = "Athena"
MESSAGES = "SNS"
EVENTS = "EventBridge"

# The order in which they are told.
SERVICES = (
    *(METRICS, ALARMS, DASHBOARD, LOGS, LAMBDA, S3),
    *(NETWORK, SECRETS, GLUE, ATHENA, MESSAGES, EVENTS),
)

_SIZES = (("GB", GB), ("MB", MB), ("KB", KB))


@dataclass(frozen=True, slots=True)
class Item:
    """So many units a month of what `price` is the price of.

    `basis` says how they are counted, `lever` which key of the configuration changes them.
    """

    service: str
    what: str
    price: str
    _: KW_ONLY
    quantity: float
    basis: str
    lever: str = ""


def size(count: float) -> str:
    """Bytes as people read them: `12 KB`, `3.4 MB`, `150 GB`."""
    unit, factor = next(pair for pair in _SIZES if count >= pair[1] or pair is _SIZES[-1])
    return f"{count / factor:.3g} {unit}"
