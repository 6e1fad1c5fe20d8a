# SPDX-License-Identifier: Apache-2.0
"""The kinds of widget that the page is made of, in sizes of the 24 columns it has."""

from __future__ import annotations

from collections.abc import Sequence

from aws_cdk import aws_cloudwatch as cloudwatch

WHOLE, HALF, THIRD = 24, 12, 8
_HEIGHT = 6

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


def rows_of(widgets: Sequence[cloudwatch.IWidget], each: int) -> list[Row]:
    """Widgets in rows of so many."""
    return [list(widgets[at : at + each]) for at in range(0, len(widgets), each)]
