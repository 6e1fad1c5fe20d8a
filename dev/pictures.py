# SPDX-License-Identifier: Apache-2.0
"""Makes the pictures in docs/: status page and daily report of one made-up day.

Writes docs/status-page.png, docs/report.png and docs/pages.png, which shows both side by side.
Needs Chromium and Java, and takes some three minutes. Make new pictures if a page changes.
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

from rich.console import Console

from dev.benchmarks.serve import Until
from dev.sim.cases.text import read_cases
from dev.sim.run import make_rules, run_report, write_day
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
        ((case,),) = read_cases("shop.txt").values()
        owners = ByName.of([("^payments-", "payments"), ("^audit-", "compliance")])
        rules = replace(make_rules(case), owners=owners)
        write_day(folder, CLUSTER, Staged(case).world, rules, day=DATE, warm_up=case.warm_up)
        console.print("The status page …")
        shot_status_page(browser, folder)
        console.print("The report, which takes a minute …")
        run_report(folder, DATE)
        page = folder / f"reports/page/cluster={CLUSTER}/dt={DATE}/report.html"
        shot(browser, page.as_uri(), DOCS / "report.png", _REPORT_SIZE)
    pages = Path(__file__).with_name("pages.html").as_uri()
    shot(browser, pages, DOCS / "pages.png", _BOTH_SIZE)
    return 0


def shot_status_page(browser: str, folder: Path) -> None:
    """Returns the page as it was at 14:00, without later runs."""
    store = Until(folder)
    store.now_ms = round(_NOW * 1000)
    with LocalServer(Snapshots(store, lambda: _NOW), lambda: _NOW) as server:
        shot(browser, f"{server.url}/cluster/{CLUSTER}", DOCS / "status-page.png", _STATUS_SIZE)


def shot(browser: str, url: str, picture: Path, size: tuple[int, int]) -> None:
    """Returns the pixels that a browser's window of this size shows."""
    flags = ["--headless", "--no-sandbox", "--hide-scrollbars"]
    window = [f"--window-size={size[0]},{size[1]}", f"--screenshot={picture}"]
    subprocess.run([browser, *flags, *window, url], check=True, capture_output=True)


if __name__ == "__main__":
    sys.exit(main())
