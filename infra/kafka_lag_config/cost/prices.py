# SPDX-License-Identifier: Apache-2.0
"""Prices as AWS states them: by region, in tiers. The file says where and when they were read."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import TypeAlias

FILE = Path(__file__).with_name("prices.toml")

# Whose prices stand in for those of a region that the file does not hold.
REFERENCE_REGION = "us-east-1"


@dataclass(frozen=True, slots=True)
class Price:
    """A price: of each tier up to how many units of a month it goes, and its dollars a unit."""

    unit: str
    tiers: tuple[tuple[float, float], ...]
    verified: bool

    def cost(self, units: float) -> float:
        """Returns dollars for so many units within one month, account and region."""
        total, below = 0.0, 0.0
        for up_to, dollars in self.tiers:
            total += max(0.0, min(units, up_to) - below) * dollars
            below = up_to
        return total


# The prices of one region by their keys, and those of all regions.
Prices: TypeAlias = Mapping[str, Price]
PricesByRegion: TypeAlias = Mapping[str, Prices]


def load_prices() -> PricesByRegion:
    """Returns every region's prices."""
    return {
        region: {
            key: Price(
                price["unit"],
                tuple((tier.get("up_to", inf), tier["price"]) for tier in price["tiers"]),
                price["verified"],
            )
            for key, price in prices.items()
        }
        for region, prices in tomllib.loads(FILE.read_text()).items()
    }
