# SPDX-License-Identifier: Apache-2.0
"""Errors of AWS's answers, each with the right that the call needs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from botocore.exceptions import ClientError

from kafka_lag.aws import AWS_ERRORS, error_code
from kafka_lag.errors import ReporterError

_DENIED = frozenset(
    {
        "AccessDenied",
        "AccessDeniedException",
        "ForbiddenException",
        "UnauthorizedException",
        "UnauthorizedOperation",
    }
)
EXPIRED = frozenset(
    {
        "ExpiredToken",
        "ExpiredTokenException",
        "SSOTokenLoadError",
        "TokenRefreshRequired",
        "TokenRetrievalError",
        "UnauthorizedSSOTokenError",
    }
)
_REJECTED = EXPIRED | {"InvalidAccessKeyId", "InvalidToken"}
_ABSENT = frozenset({"NotFoundException", "ResourceNotFoundException"})


class AwsError(ReporterError):
    """A call that failed; `right` is the action in IAM that it takes.

    `denied`: there is no such right. `rejected`: AWS does not take the credentials. `absent`: there
    is no such cluster or secret.
    """

    def __init__(self, right: str, error: Exception) -> None:
        self.right, self.code = right, error_code(error)
        self.denied, self.absent = self.code in _DENIED, self.code in _ABSENT
        self.rejected = self.code in _REJECTED
        if self.denied:
            sentence = f"AWS denies the right to {right} ({self.code})."
        elif self.rejected:
            sentence = (
                f"AWS does not take your credentials ({self.code}): run aws sso login, or renew "
                "them."
            )
        elif isinstance(error, ClientError):
            sentence = f"AWS answers {right} with {self.code}."
        else:
            sentence = (
                f"AWS cannot be asked by {right} ({self.code}): check your AWS credentials, "
                "--profile and the network."
            )
        super().__init__(sentence)


@contextmanager
def using(right: str) -> Iterator[None]:
    """Turns an error of boto3 into an AwsError that names the right."""
    try:
        yield
    except AWS_ERRORS as error:
        raise AwsError(right, error) from error
