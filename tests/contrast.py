# SPDX-License-Identifier: Apache-2.0
"""How well two colours of a style sheet can be distinguished, as WCAG counts it."""

import re


def contrast(css: str, one: str, other: str, *, dark: bool) -> float:
    """The ratio of two custom properties (#rrggbb) of a style sheet, in light or in dark.

    It is 1 for equal colours and 21 for black on white.
    """
    light, night = re.findall(r":root \{(.*?)\}", css, re.DOTALL)
    colours = _colours(light) | (_colours(night) if dark else {})
    low, high = sorted((_luminance(colours[one]), _luminance(colours[other])))
    return (high + 0.05) / (low + 0.05)


def _colours(rules: str) -> dict[str, str]:
    return dict(re.findall(r"--([\w-]+): (#\w{6});", rules))


def _luminance(colour: str) -> float:
    parts = (int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5))
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
