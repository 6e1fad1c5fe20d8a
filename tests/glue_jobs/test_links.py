# SPDX-License-Identifier: Apache-2.0
"""The address at which a page is opened."""

import pytest

from kafka_lag_report.message import make_link

_PAGE = "reports/page/cluster=a%20b/dt=2026-01-31/report.html"
_QUOTED = "reports/page/cluster%3Da%2520b/dt%3D2026-01-31/report.html"


@pytest.mark.parametrize(
    ("region", "host"),
    [
        ("eu-west-1", "eu-west-1.console.aws.amazon.com"),
        ("us-gov-west-1", "us-gov-west-1.console.amazonaws-us-gov.com"),
        ("cn-north-1", "cn-north-1.console.amazonaws.cn"),
    ],
)
@pytest.mark.parametrize("scheme", ["s3", "s3a"])
def test_an_object_is_opened_in_the_console(scheme: str, region: str, host: str) -> None:
    found = make_link(f"{scheme}://kept/{_PAGE}", region)

    assert found == f"https://{host}/s3/object/kept?region={region}&prefix={_QUOTED}"


@pytest.mark.parametrize("address", ["/srv/out/report.html", "out/report.html", "hdfs://n/r.html"])
def test_any_other_place_is_told_as_it_is(address: str) -> None:
    assert make_link(address, "eu-west-1") == address


def test_without_a_region_an_object_keeps_its_address() -> None:
    assert make_link("s3://kept/report.html", None) == "s3://kept/report.html"
