# SPDX-License-Identifier: Apache-2.0
"""The bill as one JSON document; dollars are rounded to a hundredth of a cent."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from kafka_lag_cdk.bill import advice
from kafka_lag_cdk.bill.comparison import MSK_DEFAULT_HAS, MSK_DEFAULT_LACKS
from kafka_lag_cdk.bill.lines import Bill, ClusterBill, Line, PlaceBill, total
from kafka_lag_cdk.bill.prices import PriceList
from kafka_lag_cdk.bill.usage import measured
from kafka_lag_cdk.config.shared import Report

_DIGITS = 4


def document_of(bill: Bill, report: Report) -> dict[str, Any]:
    """Everything that the tables show, and each line's quantity, unit and price source."""
    used = {place.prices.region: place.prices for place in bill.places}
    return {
        "currency": "USD",
        "month_days": measured.DAYS,
        "total": _usd(bill.usd),
        "places": [_place(place) for place in bill.places],
        "levers": [
            {**asdict(lever), "usd": _usd(lever.usd), "share": _usd(lever.share)}
            for lever in advice.levers(bill)
        ],
        "warnings": advice.warnings(bill, report),
        "assumptions": list(advice.ASSUMPTIONS),
        "prices": {region: _prices(prices) for region, prices in used.items()},
    }


def _place(place: PlaceBill) -> dict[str, Any]:
    told = asdict(place.comparison)
    return {
        "account": place.account,
        "region": place.region,
        "prices_of": place.prices.region,
        "total": _usd(place.usd),
        "clusters": [_cluster(one, place.prices) for one in place.clusters],
        "shared": {"total": _usd(total(place.shared)), "lines": _lines(place.shared, place.prices)},
        "comparison": {
            "msk_default": {"has": MSK_DEFAULT_HAS, "lacks": list(MSK_DEFAULT_LACKS)},
            **{k: _usd(v) if k.endswith("_usd") else v for k, v in told.items()},
        },
    }


def _cluster(one: ClusterBill, prices: PriceList) -> dict[str, Any]:
    each = one.usd_per_group
    return {
        "name": one.cluster.name,
        "total": _usd(one.usd),
        "per_group": None if each is None else _usd(each),
        "expected": one.cluster.expected.model_dump(),
        "lines": _lines(one.lines, prices),
    }


def _lines(lines: Iterable[Line], prices: PriceList) -> list[dict[str, Any]]:
    return [
        {
            "service": line.item.service,
            "item": line.item.what,
            "price": line.item.price,
            "quantity": line.item.quantity,
            "unit": prices[line.item.price].unit,
            "basis": line.item.basis,
            "usd": _usd(line.usd),
            "lever": line.item.lever or None,
        }
        for line in lines
    ]


def _prices(prices: PriceList) -> dict[str, Any]:
    return {key: price.model_dump(mode="json") for key, price in prices.prices.items()}


def _usd(value: float) -> float:
    return round(value, _DIGITS)
