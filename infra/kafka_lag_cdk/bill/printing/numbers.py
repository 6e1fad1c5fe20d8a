# SPDX-License-Identifier: Apache-2.0
"""Dollars and quantities, as long as people read them."""

from __future__ import annotations

_CENT = 0.005
_WHOLE, _THOUSAND = 100, 1000
_ABBREVIATIONS = ("GB", "TB")


def dollars(usd: float, *, brief: bool = False) -> str:
    """`1,234.50`, or `1,234` where it is to be brief; less than half a cent is `<0.01`."""
    if 0 < usd < _CENT:
        return "<0.01"
    return f"{usd:,.0f}" if brief and usd >= _THOUSAND else f"{usd:,.2f}"


def amount(quantity: float) -> str:
    """A quantity to three digits below a hundred, whole above."""
    if quantity >= _WHOLE or quantity == int(quantity):
        return f"{quantity:,.0f}"
    return f"{quantity:.3g}"


def counted(quantity: float, unit: str) -> str:
    """`1 metric`, `2 metrics`, `3 GB`."""
    plural = "" if quantity == 1 or unit in _ABBREVIATIONS else "s"
    return f"{amount(quantity)} {unit}{plural}"
