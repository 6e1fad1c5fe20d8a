# SPDX-License-Identifier: Apache-2.0
"""The pictures of the documents: status page and daily report of one made-up day.

Writes docs/status-page.png, docs/report.png and docs/pages.png, both side by side. Needs Chromium
and Java, and takes some three minutes. A page that changes makes new pictures due.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from datetime import UTC, date, datetime, time
from pathlib import Path

from rich.console import Console

from dev.days.describe import Absent, Day, Rows, Slow, Span
from dev.days.scenarios import a_day, a_group, a_topic, some_members
from dev.days.write import write_day
from kafka_lag.lag.group_settings import ByName, Rules
from kafka_lag.snapshots.keys import taken_at_of
from kafka_lag.snapshots.store import FolderStore
from kafka_lag.views.latest_run import Snapshots
from kafka_lag_cli.local_server import LocalServer

DOCS = Path(__file__).parents[1] / "docs"
CLUSTER, DATE = "shop-eu", date(2026, 1, 30)
# When somebody looks at the status page.
_NOW = datetime.combine(DATE, time(14, 0, 24), UTC).timestamp()
_HOUR = 3_600.0
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
        write_day(folder, shop_day(), date=DATE)
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


def shop_day() -> Day:
    """A shop on three brokers, with a group in each kind of trouble around 14:00."""
    topics = [
        a_topic("orders", [20.0] * 12),
        a_topic("payments", [8.0] * 6),
        a_topic("clicks", [60.0, 15.0, 15.0], retention_seconds=2 * _HOUR),
        a_topic("audit-log", [4.0] * 3, retention_seconds=6 * _HOUR),
        *(a_topic(name, [2.0] * 3) for name in ("shipments", "stock", "mails", "prices", "carts")),
    ]
    settlement = some_members("payments-settlement", 3)
    groups = [
        a_group("order-enricher", "orders", members=4),
        a_group("payments-settlement", "payments", members=3, usual=(60.0, 10.0)),
        a_group("clickstream-archive", "clicks", members=3),
        a_group("audit-export", "audit-log", members=1),
        a_group("fraud-check", "payments", members=2),
        a_group("shipping-notices", "shipments"),
        a_group("stock-sync", "stock", members=1),
        a_group("mailer", "mails", members=1),
        a_group("price-feed", "prices", members=1),
        a_group("recommendations", "carts", "clicks", members=2),
        a_group("search-index", "stock", "prices"),
        a_group("warehouse", "shipments", "stock"),
    ]
    late = Rows(group="payments-settlement", member=settlement[1].member_id)
    return a_day(
        topics,
        groups,
        Absent(when=Span(11, 15), group="clickstream-archive"),
        Slow(when=Span(9.5, 14.6), rows=Rows(group="audit-export")),
        Slow(when=Span(12, 15), rows=late, share=0.3),
        Slow(when=Span(12.5, 16), rows=Rows(group="order-enricher", leader=3), share=0.6),
        Slow(when=Span(13, 14.5), rows=Rows(group="mailer", partitions=(0,))),
        Absent(when=Span(5, 5.4), group="shipping-notices"),
        cluster=CLUSTER,
        warm_up_hours=24.0,
        rules=Rules(
            owners=ByName.of([("^payments-", "payments"), ("^audit-", "compliance")]),
            sla_seconds=ByName.of([("^payments-settlement$", 300.0)]),
        ),
    )


def shot_status_page(browser: str, folder: Path) -> None:
    """The page as it was at 14:00: later runs are not there yet."""
    with tempfile.TemporaryDirectory(prefix="kafka-lag-pictures-") as name:
        until = Path(name)
        for path in folder.rglob("*.parquet"):
            key = str(path.relative_to(folder))
            if (taken_at_of(key) or 0) <= _NOW * 1000:
                (until / key).parent.mkdir(parents=True, exist_ok=True)
                os.link(path, until / key)
        with LocalServer(Snapshots(FolderStore(until), lambda: _NOW), lambda: _NOW) as server:
            shot(browser, f"{server.url}/cluster/{CLUSTER}", DOCS / "status-page.png", _STATUS_SIZE)


def shot(browser: str, url: str, picture: Path, size: tuple[int, int]) -> None:
    """What a browser's window of that size shows, in pixels."""
    flags = ["--headless", "--no-sandbox", "--hide-scrollbars"]
    window = [f"--window-size={size[0]},{size[1]}", f"--screenshot={picture}"]
    subprocess.run([browser, *flags, *window, url], check=True, capture_output=True)


if __name__ == "__main__":
    sys.exit(main())
