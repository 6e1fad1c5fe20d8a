# SPDX-License-Identifier: Apache-2.0
"""Colours that everybody can read: WCAG AA, in light and in dark."""

from __future__ import annotations

import re
from importlib.resources import files

import pytest

from tests.contrast import contrast

CSS = (files("kafka_lag.views") / "templates" / "page.css").read_text("utf-8")
TEXTS = [
    *((text, ground) for text in ("ink", "soft", "link") for ground in ("paper", "panel", "faint")),
    *((f"{level}-ink", level) for level in ("urgent", "serious", "calm")),
    ("err", "paper"),
    ("paper", "ink"),
]
SHAPES = [("line", "panel"), ("line", "paper"), ("err", "paper"), ("none", "panel")]


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize(("text", "ground"), TEXTS)
def test_text_stands_out_from_its_ground(text: str, ground: str, dark: bool) -> None:
    assert contrast(CSS, text, ground, dark=dark) >= 4.5


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize(("shape", "ground"), SHAPES)
def test_shapes_that_mean_something_are_seen(shape: str, ground: str, dark: bool) -> None:
    assert contrast(CSS, shape, ground, dark=dark) >= 3


def test_nothing_is_loaded_by_the_style() -> None:
    assert set(re.findall(r"url\((.*?)\)", CSS)) == {"#hatch"}
    assert "@import" not in CSS
