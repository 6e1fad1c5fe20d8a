# SPDX-License-Identifier: Apache-2.0
"""Where a person opens a file of the output: S3's console, or the path."""

from urllib.parse import quote

from kafka_lag_report.storage import s3_place

_ELSEWHERE = {"cn-": "amazonaws.cn", "us-gov-": "amazonaws-us-gov.com"}
_COMMON = "aws.amazon.com"


def link(address: str, region: str | None) -> str:
    """The console's page of an object; of anything else, or without a region, the address."""
    place = s3_place(address)
    if place is None or region is None:
        return address
    bucket, key = place
    domain = next((d for start, d in _ELSEWHERE.items() if region.startswith(start)), _COMMON)
    # A folder's name has its own percent signs, which the console must not take for its.
    query = f"region={region}&prefix={quote(key)}"
    return f"https://{region}.console.{domain}/s3/object/{bucket}?{query}"
