# SPDX-License-Identifier: Apache-2.0
"""What makes an endpoint take a request: headers from a secret, or a signature of the role."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Protocol

from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.exceptions import BotoCoreError, ClientError

from kafka_lag.errors import SinkError
from kafka_lag.refusal import code_of

# CloudWatch's name in a signature, also of its OTLP endpoint.
_SERVICE = "monitoring"
_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
# What the sink itself says of the body and where it goes.
_OURS = {"content-type", "content-encoding", "content-length", "transfer-encoding", "host"}


class Access(Protocol):
    """Adds to a request what its endpoint asks for. Methods raise SinkError."""

    def headers(self, url: str, body: bytes, told: Mapping[str, str]) -> dict[str, str]:
        """All headers to send, those told among them."""

    def refused(self) -> bool:
        """After a 401 or 403: whether to try once more, with what is read anew."""


class NoAccess:
    """Of an endpoint that asks for nothing."""

    def headers(self, _url: str, _body: bytes, told: Mapping[str, str]) -> dict[str, str]:
        """Those told."""
        return dict(told)

    def refused(self) -> bool:
        """There is nothing to read anew."""
        return False


class SignedAccess:
    """SigV4 with the credentials of the function's role, for CloudWatch in one region."""

    def __init__(self, credentials: Any, region: str) -> None:
        self._credentials = credentials
        self._region = region

    def headers(self, url: str, body: bytes, told: Mapping[str, str]) -> dict[str, str]:
        """Signed anew each time: a signature is good for minutes, and credentials rotate."""
        request = AWSRequest(method="POST", url=url, data=body, headers=dict(told))
        try:
            frozen = self._credentials.get_frozen_credentials()
            SigV4Auth(frozen, _SERVICE, self._region).add_auth(request)
        except BotoCoreError as error:
            raise SinkError(
                f"Metrics cannot be signed for {url}: the function's role gives no credentials "
                f"({type(error).__name__})."
            ) from error
        return dict(request.headers.items())

    def refused(self) -> bool:
        """Another signature of the same role would be refused just as well."""
        return False


class SecretHeaders:
    """Headers from a JSON object in Secrets Manager, read when first needed and when refused."""

    def __init__(self, client: Any, secret_id: str) -> None:
        self._client = client
        self._secret_id = secret_id
        self._known: dict[str, str] | None = None

    def headers(self, _url: str, _body: bytes, told: Mapping[str, str]) -> dict[str, str]:
        """Those told, and the secret's."""
        if self._known is None:
            self._known = self._read()
        return {**self._known, **told}

    def refused(self) -> bool:
        """The secret may have been rotated; it is read anew."""
        before, self._known = self._known, None
        self._known = self._read()
        return self._known != before

    def _read(self) -> dict[str, str]:
        try:
            text = self._client.get_secret_value(SecretId=self._secret_id)["SecretString"]
            return _checked(json.loads(text))
        except (ClientError, BotoCoreError) as error:
            raise SinkError(
                f"The secret {self._secret_id} with the headers for OTLP cannot be read "
                f"({code_of(error)})."
            ) from error
        except (KeyError, ValueError):
            # Without its cause, which might quote the secret.
            raise SinkError(
                f"The secret {self._secret_id} must be a JSON object of headers and their "
                "values, both text, none of them about the body or the host."
            ) from None


def _checked(fields: Any) -> dict[str, str]:
    """The headers. Raises ValueError for what cannot be sent as such."""
    if not isinstance(fields, dict):
        raise ValueError("no object")
    for name, value in fields.items():
        good = _NAME.fullmatch(name) and name.lower() not in _OURS
        if not (good and isinstance(value, str) and value.isascii() and value.isprintable()):
            raise ValueError("no header")
    return fields
