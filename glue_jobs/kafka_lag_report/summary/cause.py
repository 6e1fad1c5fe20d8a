# SPDX-License-Identifier: Apache-2.0
"""What a skewed topic's lag is laid to, in few words."""

from collections.abc import Sequence
from dataclasses import dataclass

from kafka_lag_report.summary.wording import shown

_SOME = 4


@dataclass(frozen=True, slots=True)
class Cause:
    """`kind` in the report's words; the leader is a broker's, the client a consumer's only."""

    kind: str
    partitions: Sequence[int] = ()
    leader: int | None = None
    client_id: str | None = None
    client_host: str | None = None

    def __str__(self) -> str:
        """What is to blame, with its partitions: `broker 3 (partitions 0, 4)`."""
        if self.kind == "unexplained":
            return self.kind
        blamed = self.kind
        if self.kind == "broker":
            blamed = f"broker {self.leader}"
        if self.kind == "consumer":
            blamed = f"consumer {shown(self.client_id, 40)} at {shown(self.client_host, 40)}"
        return f"{blamed}{_partitions(self.partitions)}"


def _partitions(partitions: Sequence[int]) -> str:
    if not partitions:
        return ""
    named = ", ".join(str(partition) for partition in partitions[:_SOME])
    more = f" and {len(partitions) - _SOME} more" if len(partitions) > _SOME else ""
    return f" (partition{'s'[: len(partitions) > 1]} {named}{more})"
