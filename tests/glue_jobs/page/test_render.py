# SPDX-License-Identifier: Apache-2.0
"""The page as text: complete, without requests to other hosts, and safe against any name."""

import base64
import hashlib
import re
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path

import jinja2
import markupsafe
import pyspark
import pytest

import kafka_lag
import kafka_lag_report
from kafka_lag_report.findings import Listed, TopicRisk
from kafka_lag_report.page.drawn import Curve
from kafka_lag_report.page.render import render
from tests.glue_jobs.page.pages import (
    Tags,
    at,
    calm,
    coverage_of,
    curve,
    full,
    group_day,
    of,
    only,
    page,
    peak,
    skew_of,
)

WIDEST = 3_000_000


@pytest.mark.parametrize(
    "name", ['" onload="x', "'><img src=x>", "&amp;", "{{ 7 * 7 }}", "</style>"]
)
def test_a_name_stays_inside_its_attribute(name: str) -> None:
    plain, nasty = Tags(render(full("plain"))), Tags(render(full(name)))

    assert [(tag, sorted(found)) for tag, found in nasty.found] == [
        (tag, sorted(found)) for tag, found in plain.found
    ]
    assert name in nasty.text


def test_only_this_page_s_own_style_and_script_may_run() -> None:
    html = render(full())

    policy = Tags(html).of("meta")[1]["content"] or ""
    style, script = re.findall(r"<(?:style|script)>(.*?)</(?:style|script)>", html, re.DOTALL)
    for text in (style, script):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none';")
    assert "unsafe" not in policy


def test_nothing_is_loaded_from_anywhere() -> None:
    tags = Tags(render(full()))

    assert [found["href"] for found in tags.of("link")] == ["data:,"]
    assert all((found["href"] or "").startswith("#") for found in tags.of("a"))
    assert not [found for _, found in tags.found if {"src", "style", "onclick"} & set(found)]


def test_every_table_has_a_caption_and_every_heading_a_scope() -> None:
    tags = Tags(render(full()))

    assert len(tags.of("caption")) == len(tags.of("table")) > 5
    assert {found.get("scope") for found in tags.of("th")} == {"col", "row"}


def test_every_link_leads_somewhere() -> None:
    tags = Tags(render(full()))

    ids = [found["id"] for _, found in tags.found if "id" in found]
    assert len(ids) == len(set(ids))
    assert {(found["href"] or "")[1:] for found in tags.of("a")} <= set(ids)


def test_a_peak_that_may_be_any_higher_says_so() -> None:
    oldest = peak(60, 7_259.0, is_least=True)
    day = calm("a", time_lag_max=7_259.0, time_lag_max_is_least=True)

    html = render(page(groups=of(day), curves={"a": replace(curve(), peak=oldest)}))

    assert "Peak <b>at least\u00a02\u00a0h</b> at 01:00" in html
    assert "over the day, peak at least\u00a02\u00a0h" in html


def test_a_gap_in_the_curve_is_a_gap_on_the_page() -> None:
    html = render(page(groups=of(calm()), curves={"geo": curve()}))

    line = re.search(r'class="line" d="([^"]*)"', html)
    assert line
    assert line[1].count("M") == 2
    assert "unknown, 01:00 to 02:00" in html


def test_a_day_in_progress_says_so_first() -> None:
    seen = (coverage_of("groups", 845, 845, last_run=at(14, 5), in_progress=True),)

    text = Tags(render(page(coverage=seen))).text

    assert text.index("Day in progress. Seen until 14:05 UTC") < text.index("daily report")
    assert "Day in progress" not in Tags(render(page())).text


def test_lists_that_go_on_say_how_far() -> None:
    risks = tuple(TopicRisk(f"g{number}", "t", 1, 0) for number in range(70))

    text = Tags(render(page(risks=Listed(risks, 700)))).text

    assert "The 60 worst of 700 topics at risk" in text


def test_thousands_of_groups_stay_under_three_megabytes() -> None:
    html = render(full("a-team.some-service.orders-", 20_000))

    assert len(html.encode()) < WIDEST
    assert "groups are left out" in html


def test_the_page_renders_from_a_zip_without_compiled_code(tmp_path: Path) -> None:
    archive = tmp_path / "job.zip"
    with zipfile.ZipFile(archive, "w") as packed:
        for package in (kafka_lag, kafka_lag_report, jinja2, markupsafe):
            root = Path(package.__path__[0])
            for path in root.rglob("*"):
                if path.is_file() and path.suffix not in (".so", ".pyc"):
                    packed.write(path, path.relative_to(root.parent))
    code = (
        f"import sys; sys.path.insert(0, {str(archive)!r}); from datetime import date;"
        f"sys.path.append({str(Path(pyspark.__path__[0]).parent)!r});"
        "from kafka_lag_report.findings import Findings;"
        "from kafka_lag_report.page.render import Page, render;"
        "print(render(Page(Findings('zipped', date(2026, 1, 31))))); import jinja2, markupsafe;"
        "assert all('job.zip' in one.__file__ for one in (jinja2, markupsafe))"
    )

    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stderr
    assert '<bdi class="name">zipped</bdi>' in done.stdout


def test_a_page_of_which_nothing_is_known_has_no_word_of_python() -> None:
    skewed = skew_of("g", "t", True, False)
    nothing = page(
        groups=of(group_day("g")),
        curves={"g": Curve()},
        risks=Listed((TopicRisk("g", "t", 1, 1), TopicRisk("g", "u", 1)), 2),
        skews=Listed((skewed, {**skewed, "cause": "broker"}, skew_of("g", "u", False, True)), 3),
        brokers=only("broker_hotspots", hot=True),
        consumers=only("consumer_hotspots", consumer_group="g"),
        unusual=only("anomalies", consumer_group="g", hour=0, measure="lag", direction="high"),
        coverage=(coverage_of("groups"),),
    )

    text = Tags(render(nothing)).text

    assert "A dash (\u2013) means unknown" in text
    assert not re.search(r"\b(None|nan|NaN|inf)\b", text)
