# SPDX-License-Identifier: Apache-2.0
"""AWS credentials of `doctor`: whether AWS takes them, and whose they are."""

from __future__ import annotations

from collections.abc import Iterator

from kafka_lag.aws import AWS_ERRORS, error_code
from kafka_lag_cli.account.errors import EXPIRED
from kafka_lag_cli.doctor.findings import Finding
from kafka_lag_cli.doctor.place import Place

CREDENTIALS = "AWS credentials"


def check_credentials(place: Place) -> Iterator[Finding]:
    try:
        account = place.client("sts").get_caller_identity()["Account"]
    except AWS_ERRORS as error:
        yield _bad_credentials(place, error_code(error))
        return
    if place.account and account != place.account:
        yield Finding(
            CREDENTIALS,
            "fault",
            f"they are of the account {account}, and the configuration's cluster "
            f"{place.cluster.name} is in {place.account}",
            "Nothing of the cluster is seen with them: give --profile with one of that account.",
        )
        return
    yield Finding(CREDENTIALS, "ok", f"they are of the account {account}")


def _bad_credentials(place: Place, code: str) -> Finding:
    if code == "NoCredentialsError":
        return Finding(
            CREDENTIALS,
            "unknown",
            "there are none, so AWS is not looked at",
            "Set the environment's, or give --profile.",
            f"aws configure{place.profile_option()}",
        )
    if code in EXPIRED:
        return Finding(
            CREDENTIALS,
            "fault",
            f"they have expired ({code})",
            "Log in again.",
            f"aws sso login{place.profile_option()}",
        )
    return Finding(
        CREDENTIALS,
        "fault",
        f"AWS does not take them ({code})",
        "Check which are used, and this machine's clock: AWS refuses what is signed more than five "
        "minutes off.",
        f"aws configure list{place.profile_option()}",
    )
