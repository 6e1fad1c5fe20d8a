# SPDX-License-Identifier: Apache-2.0
"""Colours that everybody can read: WCAG AA, in light and in dark."""

import re
from importlib.resources import files

import pytest

from tests.contrast import contrast

CSS = (files("kafka_lag_report.page") / "templates" / "report.css").read_text("utf-8")
TEXTS = [
    ("ink", "paper"),
    ("ink", "panel"),
    ("soft", "paper"),
    ("soft", "panel"),
    ("link", "paper"),
    ("urgent-ink", "urgent"),
    ("serious-ink", "serious"),
    ("warned-ink", "warned"),
    ("notice-ink", "notice"),
    ("calm-ink", "calm"),
]
SHAPES = [
    ("line", "panel"),
    ("err", "panel"),
    ("lost", "err"),
    ("lost", "paper"),
    ("none", "panel"),
    ("ok", "err"),
    ("soft", "panel"),
]


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize(("text", "ground"), TEXTS)
def test_text_stands_out_from_its_ground(text: str, ground: str, dark: bool) -> None:
    assert contrast(CSS, text, ground, dark=dark) >= 4.5


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize(("shape", "ground"), SHAPES)
def test_shapes_that_mean_something_are_seen(shape: str, ground: str, dark: bool) -> None:
    assert contrast(CSS, shape, ground, dark=dark) >= (1.4 if ground == "err" else 3)


@pytest.mark.parametrize(("level", "status"), [("serious", "err"), ("warned", "warn")])
def test_a_status_has_one_colour_in_the_strip_and_on_the_timelines(level: str, status: str) -> None:
    for shape in (f".strip .{level}", f".timeline .{status}"):
        assert f"{shape} {{ fill: var(--{status}); }}" in CSS
    for shape in (f".tally i.{level}", f".key .{status}"):
        assert f"{shape} {{ background: var(--{status});" in CSS


def test_nothing_is_loaded_by_the_style() -> None:
    assert set(re.findall(r"url\((.*?)\)", CSS)) == {"#hatch"}
    assert "@import" not in CSS
