# SPDX-License-Identifier: Apache-2.0
"""Colours that everybody can read: WCAG AA, in light and in dark."""

from __future__ import annotations

import re
from importlib.resources import files

import pytest

CSS = (files("functions.views.page") / "template" / "page.css").read_text("utf-8")
TEXTS = [
    *((text, ground) for text in ("ink", "soft", "link") for ground in ("paper", "panel", "faint")),
    *((f"{level}-ink", level) for level in ("urgent", "serious", "calm")),
    ("err", "paper"),
    ("paper", "ink"),
]
SHAPES = [("line", "panel"), ("line", "paper"), ("err", "paper"), ("none", "panel")]


def _theme(dark: bool) -> dict[str, str]:
    light, night = re.findall(r":root \{(.*?)\}", CSS, re.DOTALL)
    colours = dict(re.findall(r"--([\w-]+): (#\w{6});", light))
    return colours | dict(re.findall(r"--([\w-]+): (#\w{6});", night)) if dark else colours


def _luminance(colour: str) -> float:
    parts = (int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5))
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _contrast(colours: dict[str, str], one: str, other: str) -> float:
    low, high = sorted((_luminance(colours[one]), _luminance(colours[other])))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize(("text", "ground"), TEXTS)
def test_text_stands_out_from_its_ground(text: str, ground: str, dark: bool) -> None:
    assert _contrast(_theme(dark), text, ground) >= 4.5


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize(("shape", "ground"), SHAPES)
def test_shapes_that_mean_something_are_seen(shape: str, ground: str, dark: bool) -> None:
    assert _contrast(_theme(dark), shape, ground) >= 3


def test_nothing_is_loaded_by_the_style() -> None:
    assert set(re.findall(r"url\((.*?)\)", CSS)) == {"#hatch"}
    assert "@import" not in CSS
