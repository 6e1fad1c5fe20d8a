# SPDX-License-Identifier: Apache-2.0
"""The certificate of a port that is served here: two PEM files, loaded again when they change."""

from __future__ import annotations

import ssl
from pathlib import Path

from kafka_lag.brokers.login import as_file
from kafka_lag.errors import ConfigError

# Never asked of a terminal, as OpenSSL would.
_NO_PASSWORD = ""


class ServerCertificate:
    """A certificate chain and its key. Raises ConfigError for files that are no such pair.

    Both are read whole before either is used, so that files which are being replaced, one after
    the other, never serve half a pair.
    """

    def __init__(self, certfile: Path, keyfile: Path) -> None:
        self._certfile, self._keyfile = certfile.expanduser(), keyfile.expanduser()
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.minimum_version = ssl.TLSVersion.TLSv1_2
        self._tried: bytes | None = None
        self._fault: ConfigError | None = None
        self.reload()

    def reload(self) -> None:
        """Connections from now on get what the files hold; without a usable pair, what they got.

        Raises ConfigError, one and the same as long as the files stay as they are.
        """
        try:
            pair, unreadable = (
                self._certfile.read_bytes() + b"\n" + self._keyfile.read_bytes(),
                None,
            )
        except OSError as error:
            pair, unreadable = b"", error.strerror
        if pair != self._tried:
            self._tried = pair
            self._fault = self._load(pair) if unreadable is None else self._unreadable(unreadable)
        if self._fault is not None:
            raise self._fault

    def _unreadable(self, reason: str) -> ConfigError:
        return ConfigError(
            f"The certificate {self._certfile} and its key {self._keyfile} cannot be read "
            f"({reason})."
        )

    def _load(self, pair: bytes) -> ConfigError | None:
        """Tries it before it is loaded, as a pair that does not fit would stay half loaded."""
        with as_file(pair) as path:
            try:
                for context in (ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), self.context):
                    context.load_cert_chain(path, password=_NO_PASSWORD)
            except (ssl.SSLError, ValueError):
                return ConfigError(
                    f"{self._certfile} and {self._keyfile} are no certificate with its key: both "
                    "must be PEM, the key without a password."
                )
        return None
