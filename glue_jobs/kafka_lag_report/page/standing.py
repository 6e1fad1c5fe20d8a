# SPDX-License-Identifier: Apache-2.0
"""How a group's day stands in one word, and the order of groups that follows from it."""

from collections.abc import Mapping
from dataclasses import dataclass

from kafka_lag_report.page import words
from kafka_lag_report.page.model import GroupDay, TopicRisk

LOST, AT_RISK, ERROR, SLA, WARNED, GONE, UNKNOWN, CALM = range(8)
LEVELS = {
    LOST: "urgent",
    AT_RISK: "urgent",
    ERROR: "serious",
    SLA: "serious",
    WARNED: "notice",
    GONE: "notice",
    UNKNOWN: "unknown",
    CALM: "calm",
}


@dataclass(frozen=True, slots=True)
class Standing:
    """A rank (0 is worst), what to sort by within it (least first), and the word for people."""

    rank: int
    within: float
    word: str

    @property
    def level(self) -> str:
        """The rank as the page colours it."""
        return LEVELS[self.rank]


def standing(day: GroupDay, risk: TopicRisk | None) -> Standing:
    """The worst that happened to a group; `risk` is its worst topic, if any was at risk."""
    if day.records_lost or (risk and risk.partitions_lost):
        lost = day.records_lost or (risk.records_lost if risk else 0) or 0
        return Standing(LOST, -lost, f"lost {words.count(lost)}")
    if risk and risk.partitions_at_risk:
        left = risk.seconds_left
        word = "at risk" if left is None else f"{words.duration(left)} to loss"
        return Standing(AT_RISK, float("inf") if left is None else left, word)
    if day.err_minutes:
        return Standing(ERROR, -day.err_minutes, f"error {words.minutes(day.err_minutes)}")
    if day.sla_missed_minutes > 0:
        return Standing(SLA, -day.sla_missed_minutes, "SLA missed")
    return _quieter(day)


def worst_first(
    groups: tuple[GroupDay, ...], risks: Mapping[str, TopicRisk]
) -> tuple[GroupDay, ...]:
    """Groups by standing, then by their greatest time lag, then by name."""

    def key(day: GroupDay) -> tuple[int, float, float, str]:
        stands = standing(day, risks.get(day.group))
        return (stands.rank, stands.within, -(day.time_lag_max or 0.0), day.group)

    return tuple(sorted(groups, key=key))


def worst_topics(risks: tuple[TopicRisk, ...]) -> dict[str, TopicRisk]:
    """Of each group its first topic: risks come worst first."""
    return {risk.group: risk for risk in reversed(risks)}


def _quieter(day: GroupDay) -> Standing:
    if day.warn_minutes:
        return Standing(WARNED, -day.warn_minutes, f"warned {words.minutes(day.warn_minutes)}")
    if day.gone:
        return Standing(GONE, 0.0, "gone")
    if not day.known_minutes:
        return Standing(UNKNOWN, 0.0, "unknown")
    return Standing(CALM, 0.0, "calm")
