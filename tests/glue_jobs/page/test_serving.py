# SPDX-License-Identifier: Apache-2.0
"""A page on S3 opens in a browser."""

from typing import Any

import pytest

from kafka_lag_report.errors import DataError
from kafka_lag_report.page.serving import serve_as_html

KEY = "reports/page/cluster=demo/dt=2026-01-31/report.html"


def test_a_page_keeps_its_text_and_becomes_html(s3: Any) -> None:
    s3.put_object(Bucket="lag", Key=KEY, Body=b"<p>lag")

    serve_as_html([f"s3://lag/{KEY}"], s3)

    found = s3.get_object(Bucket="lag", Key=KEY)
    assert (found["ContentType"], found["Body"].read()) == ("text/html; charset=utf-8", b"<p>lag")


def test_a_file_on_a_disk_needs_nothing(s3: Any) -> None:
    serve_as_html(["/lag/reports/page/report.html"], s3)


def test_a_refusal_says_that_the_reports_stand(s3: Any) -> None:
    with pytest.raises(DataError, match=f"reports are written, but s3://lag/{KEY} is not"):
        serve_as_html([f"s3://lag/{KEY}"], s3)
