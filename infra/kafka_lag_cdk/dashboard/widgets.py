# SPDX-License-Identifier: Apache-2.0
"""The kinds of widget that the page is made of, in sizes of the 24 columns it has."""

from __future__ import annotations

from collections.abc import Sequence

from aws_cdk import aws_cloudwatch as cloudwatch

from kafka_lag.contract.dimensions import dimension_value

WHOLE, HALF, THIRD = 24, 12, 8
_HEIGHT = 6

# Widgets of named groups or services, well within the 500 that a dashboard may have.
MOST_NAMED = 60

_LONGEST_TITLE = 60

# A widget takes a hundred alarms [CloudWatch API reference, "Dashboard body structure"].
_ALARMS_IN_A_WIDGET = 100
_ALARMS_IN_A_LINE = 6

# A row of the page.
Row = list[cloudwatch.IWidget]


def graph(
    title: str,
    *lines: cloudwatch.IMetric,
    width: int = HALF,
    unit: str | None = None,
    most: float | None = None,
    marks: Sequence[tuple[str, float]] = (),
    right: Sequence[cloudwatch.IMetric] = (),
) -> cloudwatch.GraphWidget:
    """Lines from 0 on, up to `most` where that is known; `marks` are horizontal, with a label."""
    return cloudwatch.GraphWidget(
        title=title,
        left=list(lines),
        right=list(right),
        width=width,
        height=_HEIGHT,
        left_y_axis=cloudwatch.YAxisProps(min=0, max=most, label=unit, show_units=False),
        right_y_axis=cloudwatch.YAxisProps(min=0) if right else None,
        left_annotations=[
            cloudwatch.HorizontalAnnotation(label=label, value=value) for label, value in marks
        ],
    )


def heading(text: str) -> Row:
    """A line above a part of the page."""
    return [cloudwatch.TextWidget(markdown=f"## {text}", width=WHOLE, height=1)]


def alarm_states(title: str, alarms: Sequence[cloudwatch.IAlarm]) -> list[Row]:
    """The states of alarms in as many widgets as they need, none without any."""
    parts = [
        alarms[at : at + _ALARMS_IN_A_WIDGET] for at in range(0, len(alarms), _ALARMS_IN_A_WIDGET)
    ]
    return [
        [
            cloudwatch.AlarmStatusWidget(
                title=title,
                alarms=list(part),
                width=WHOLE,
                height=1 + -(-len(part) // _ALARMS_IN_A_LINE),
            )
        ]
        for part in parts
    ]


def rows_of(widgets: Sequence[cloudwatch.IWidget], each: int) -> list[Row]:
    """Widgets in rows of so many."""
    return [list(widgets[at : at + each]) for at in range(0, len(widgets), each)]


def titled(text: str) -> str:
    """A name as metrics have it, as long as a title may be."""
    shown = dimension_value(text)
    return shown if len(shown) <= _LONGEST_TITLE else f"{shown[: _LONGEST_TITLE - 3]}..."
