# SPDX-License-Identifier: Apache-2.0
"""AWS credentials of `doctor`: whose they are, and whether this machine's clock lets them sign."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from email.utils import parsedate_to_datetime
from typing import Any, TypeAlias

from kafka_lag.aws import AWS_ERRORS, error_code
from kafka_lag_cli.doctor.findings import Finding
from kafka_lag_cli.doctor.place import Place

CREDENTIALS, CLOCK = "AWS credentials", "clock"

# AWS refuses what was signed more than five minutes ago, or in the future.
_REFUSED_SECONDS, _SKEWED_SECONDS = 300, 30

_EXPIRED = ("ExpiredToken", "ExpiredTokenException", "TokenRefreshRequired", "SSOTokenLoadError")

# Seconds since 1970.
Clock: TypeAlias = Callable[[], float]


def check_credentials(place: Place, clock: Clock) -> Iterator[Finding]:
    try:
        answer = place.client("sts").get_caller_identity()
    except AWS_ERRORS as error:
        answer = getattr(error, "response", {})
        if answer:
            yield from _check_clock(answer, clock)
        yield _bad_credentials(place, error_code(error))
        return
    yield from _check_clock(answer, clock)
    account = answer["Account"]
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
    if code in _EXPIRED:
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
        "Check which are used, and the clock.",
        f"aws configure list{place.profile_option()}",
    )


def _check_clock(answer: Mapping[str, Any], clock: Clock) -> Iterator[Finding]:
    headers = answer.get("ResponseMetadata", {}).get("HTTPHeaders", {})
    try:
        theirs = parsedate_to_datetime(headers["date"]).timestamp()
    except (KeyError, ValueError):
        yield Finding(CLOCK, "unknown", "AWS's answer has no date to compare with")
        return
    seconds = round(clock() - theirs)
    if abs(seconds) <= _SKEWED_SECONDS:
        yield Finding(CLOCK, "ok", "it agrees with AWS's")
        return
    refused = abs(seconds) >= _REFUSED_SECONDS
    yield Finding(
        CLOCK,
        "fault" if refused else "warning",
        f"this machine is {abs(seconds)} s {'ahead of' if seconds > 0 else 'behind'} AWS",
        f"AWS refuses what is signed {_REFUSED_SECONDS} s off, tokens for MSK IAM too.",
        "sudo timedatectl set-ntp true",
    )
