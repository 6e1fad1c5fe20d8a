# SPDX-License-Identifier: Apache-2.0
"""Pages on S3 that a browser opens instead of saving them."""

from collections.abc import Iterable
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from kafka_lag_report.errors import DataError
from kafka_lag_report.storage.objects import s3_place

HTML = "text/html; charset=utf-8"


def serve_as_html(addresses: Iterable[str], client: Any) -> None:
    """Say of each object that it is HTML, which Hadoop has no way to say when it writes one.

    DataError if S3 refuses; the page is there by then, as a download. Files on a disk need none.
    """
    for address in addresses:
        if (place := s3_place(address)) is None:
            continue
        bucket, key = place
        source = {"Bucket": bucket, "Key": key}
        try:
            client.copy_object(
                **source, CopySource=source, ContentType=HTML, MetadataDirective="REPLACE"
            )
        except (BotoCoreError, ClientError) as error:
            raise DataError(
                f"the reports are written, but {address} is not marked as HTML: {error}; check the "
                "job's rights s3:GetObject and s3:PutObject on reports/"
            ) from error
