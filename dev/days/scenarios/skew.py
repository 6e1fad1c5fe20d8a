# SPDX-License-Identifier: Apache-2.0
"""Lag that falls on a part of the partitions, and what is to blame for it."""

from __future__ import annotations

from dev.days.describe import Day
from dev.days.events import Rows, Slow, Span
from dev.days.scenarios.build import a_day, a_group, a_topic, some_members

MORNING = Span(8, 14)
SLOW_BROKER = 2
SLOW_MEMBER = some_members("slow-member", 4)[1]
UNEXPLAINED = (1, 6, 11)
# Twelve partitions, led in turn by three brokers, so that four ranges of three have each broker.
_EVEN = [2.0] * 12


def production() -> Day:
    """`keys` gets 667, 166 and 167 of 1,000 records, and so does its lag in the morning."""
    return a_day(
        [a_topic("keys", [6.67, 1.66, 1.67])],
        [a_group("keyed", "keys", members=3)],
        Slow(when=MORNING, rows=Rows(group="keyed"), share=0.7),
    )


def broker() -> Day:
    """What SLOW_BROKER leads of two topics lags, whoever owns it."""
    return a_day(
        [a_topic("led-a", _EVEN), a_topic("led-b", _EVEN)],
        [a_group("slow-broker", "led-a", "led-b", members=4)],
        Slow(when=MORNING, rows=Rows(group="slow-broker", leader=SLOW_BROKER), share=0.4),
    )


def consumer() -> Day:
    """What SLOW_MEMBER owns lags, whoever leads it."""
    rows = Rows(group="slow-member", member=SLOW_MEMBER.member_id)
    return a_day(
        [a_topic("owned", _EVEN)],
        [a_group("slow-member", "owned", members=4)],
        Slow(when=MORNING, rows=rows, share=0.4),
    )


def unexplained() -> Day:
    """UNEXPLAINED partitions lag, of three leaders and three members."""
    return a_day(
        [a_topic("odd", _EVEN)],
        [a_group("odd-lag", "odd", members=4)],
        Slow(when=MORNING, rows=Rows(group="odd-lag", partitions=UNEXPLAINED), share=0.4),
    )
