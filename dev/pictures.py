# SPDX-License-Identifier: Apache-2.0
"""The pictures of the documents: status page and daily report of one made-up day.

Writes docs/status-page.png, docs/report.png and docs/pages.png, both side by side. Needs Chromium
and Java, and takes some three minutes. A page that changes makes new pictures due.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, time
from pathlib import Path
from typing import Any

from rich.console import Console

from dev.benchmarks.serve import Until
from dev.sim.cases.days import BEGIN, DAY, HOUR
from dev.sim.days import make_rules, write_day
from dev.sim.events import (
    Case,
    Group,
    Hang,
    Join,
    Leave,
    Poison,
    Retain,
    Slow,
    SlowBroker,
    Topic,
    even,
)
from dev.sim.world import Staged
from kafka_lag.lag.group_settings import ByName
from kafka_lag.views.latest_run import Snapshots
from kafka_lag_cli.local_server import LocalServer

DOCS = Path(__file__).parents[1] / "docs"
CLUSTER, DATE = "shop-eu", date(2026, 1, 30)
# When somebody looks at the status page.
_NOW = datetime.combine(DATE, time(14, 0, 24), UTC).timestamp()
_STATUS_SIZE, _REPORT_SIZE, _BOTH_SIZE = (1280, 1000), (1280, 1700), (1400, 562)
_BROWSERS = ("chromium", "google-chrome")


def main(arguments: Sequence[str] | None = None) -> int:
    """Writes the pictures; 1 with a sentence where a program is missing or fails."""
    argparse.ArgumentParser(prog="python -m dev.pictures", description=__doc__).parse_args(
        arguments
    )
    console = Console(stderr=True)
    browser = next(filter(None, map(shutil.which, _BROWSERS)), None)
    if browser is None:
        console.print("Chromium is missing: apt-get install chromium.")
        return 1
    with tempfile.TemporaryDirectory(prefix="kafka-lag-pictures-") as name:
        folder = Path(name)
        console.print("A day of snapshots is written …")
        case = shop_case()
        owners = ByName.of([("^payments-", "payments"), ("^audit-", "compliance")])
        rules = replace(make_rules(case), owners=owners)
        write_day(folder, CLUSTER, Staged(case).world, rules, day=DATE, warm_up=case.warm_up)
        console.print("The status page …")
        shot_status_page(browser, folder)
        console.print("The report, which takes a minute …")
        command = [sys.executable, "-m", "kafka_lag_report.daily_report", "--date", str(DATE)]
        job = subprocess.run([*command, "--input", name, "--output", name], check=False)
        if job.returncode:
            return 1
        page = folder / f"reports/page/cluster={CLUSTER}/dt={DATE}/report.html"
        shot(browser, page.as_uri(), DOCS / "report.png", _REPORT_SIZE)
    pages = Path(__file__).with_name("pages.html").as_uri()
    shot(browser, pages, DOCS / "pages.png", _BOTH_SIZE)
    return 0


def shop_case() -> Case:
    """Returns a shop on three brokers, with a group in each kind of trouble around 14:00."""

    def read(topic: str, members: int, rate: float, *more: str, **fields: Any) -> Group:
        """A group whose members together read three times as many records/s."""
        ms = 1_000.0 * members / (3.0 * rate)
        return Group(topic, members, ms, 10.0, rebalance_seconds=0.0, more_topics=more, **fields)

    small = ("shipments", "stock", "mails", "prices", "carts")
    return Case(
        CLUSTER,
        {
            "orders": Topic(even(12, 240.0)),
            "payments": Topic(even(6, 48.0)),
            "clicks": Topic((60.0, 15.0, 15.0)),
            "audit-log": Topic(even(3, 12.0)),
            **{name: Topic(even(3, 6.0)) for name in small},
        },
        {
            "order-enricher": read("orders", 4, 240.0, slow_line=True),
            "payments-settlement": read("payments", 3, 48.0, sla_seconds=300.0),
            "clickstream-archive": read("clicks", 3, 180.0),
            "audit-export": read("audit-log", 1, 12.0),
            "fraud-check": read("payments", 2, 48.0),
            "shipping-notices": read("shipments", 2, 8.0),
            "stock-sync": read("stock", 1, 6.0),
            "mailer": read("mails", 1, 6.0),
            "price-feed": read("prices", 1, 6.0),
            "recommendations": read("carts", 2, 180.0, "clicks"),
            "search-index": read("stock", 2, 14.0, "prices"),
            "warehouse": read("shipments", 2, 14.0, "stock"),
        },
        (
            (BEGIN * HOUR, Retain("clicks", 2 * HOUR)),
            (BEGIN * HOUR, Retain("audit-log", 6 * HOUR)),
            (5 * HOUR, Leave("shipping-notices")),
            (5.4 * HOUR, Join("shipping-notices", 2)),
            (9.5 * HOUR, Hang("audit-export", lasts=5.1 * HOUR)),
            (11 * HOUR, Leave("clickstream-archive")),
            (15 * HOUR, Join("clickstream-archive", 3)),
            (12 * HOUR, Slow("payments-settlement", 200.0, (1,), lasts=3 * HOUR)),
            (12.5 * HOUR, SlowBroker(3, 12.0, 3.5 * HOUR)),
            (13 * HOUR, Poison("mailer", 0, lasts=1.5 * HOUR)),
        ),
        warm_up=-BEGIN * HOUR,
        watched=DAY * HOUR,
    )


def shot_status_page(browser: str, folder: Path) -> None:
    """The page as it was at 14:00: later runs are not there yet."""
    store = Until(folder)
    store.now_ms = round(_NOW * 1000)
    with LocalServer(Snapshots(store, lambda: _NOW), lambda: _NOW) as server:
        shot(browser, f"{server.url}/cluster/{CLUSTER}", DOCS / "status-page.png", _STATUS_SIZE)


def shot(browser: str, url: str, picture: Path, size: tuple[int, int]) -> None:
    """What a browser's window of that size shows, in pixels."""
    flags = ["--headless", "--no-sandbox", "--hide-scrollbars"]
    window = [f"--window-size={size[0]},{size[1]}", f"--screenshot={picture}"]
    subprocess.run([browser, *flags, *window, url], check=True, capture_output=True)


if __name__ == "__main__":
    sys.exit(main())
