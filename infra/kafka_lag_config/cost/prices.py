# SPDX-License-Identifier: Apache-2.0
"""Prices as AWS states them: by region, in tiers, with where and when they were read."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Annotated, TypeAlias

from pydantic import Field, TypeAdapter, model_validator

from kafka_lag_config.strict import Strict
from kafka_lag_config.types import Listed, Region, Text

FILE = Path(__file__).with_name("prices.toml")

# Whose prices stand in for those of a region that the file does not hold.
REFERENCE_REGION = "us-east-1"

_Amount = Annotated[float, Field(ge=0, strict=False)]


class Tier(Strict):
    """Dollars a unit up to so many units of a month, None: for all beyond."""

    price: _Amount
    up_to: _Amount | None = None


class Price(Strict):
    """A price; unverified unless it was read in AWS's own list or page."""

    unit: Text
    tiers: Annotated[tuple[Tier, ...], Listed, Field(min_length=1)]
    retrieved: date
    source: Annotated[Text, Field(pattern=r"^(aws\.amazon\.com/|AWS Pricing API)")]
    verified: bool

    @model_validator(mode="after")
    def _check_tiers(self) -> Price:
        *bounded, last = [tier.up_to for tier in self.tiers]
        bounds = [bound for bound in bounded if bound is not None]
        if last is not None or len(bounds) < len(bounded) or bounds != sorted(set(bounds)):
            raise ValueError("up_to must rise from tier to tier, and the last has none")
        return self

    def cost(self, units: float) -> float:
        """Dollars for so many units within one month, account and region."""
        total, below = 0.0, 0.0
        for tier in self.tiers:
            bound = units if tier.up_to is None else min(units, tier.up_to)
            total += (bound - below) * tier.price
            below = bound
        return total


# The prices of one region by their keys, and those of all regions.
Prices: TypeAlias = Mapping[str, Price]
PricesByRegion: TypeAlias = Mapping[str, Prices]


def load_prices(file: Path = FILE) -> PricesByRegion:
    """Every region's prices. Raises pydantic's ValidationError for a file that is wrong."""
    found: PricesByRegion = TypeAdapter(dict[Region, dict[str, Price]]).validate_python(
        tomllib.loads(file.read_text())
    )
    return found
