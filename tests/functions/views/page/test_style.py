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
def test_texts_and_shapes_stand_out_from_their_ground(dark: bool) -> None:
    for least, pairs in ((4.5, TEXTS), (3, SHAPES)):
        ratios = {pair: contrast(CSS, *pair, dark=dark) for pair in pairs}
        assert {pair: ratio for pair, ratio in ratios.items() if ratio < least} == {}


def test_nothing_is_loaded_by_the_style() -> None:
    assert set(re.findall(r"url\((.*?)\)", CSS)) == {"#hatch"}
    assert "@import" not in CSS
