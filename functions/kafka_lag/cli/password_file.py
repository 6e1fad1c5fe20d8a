# SPDX-License-Identifier: Apache-2.0
"""A password that is changed while the process runs: a file, read again when brokers reject it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from kafka_lag.brokers.access import Credentials, Login
from kafka_lag.errors import ConfigError


class PasswordFile:
    """A login whose password is the file's text, without the line break at its end.

    Starts with what was accepted last. Raises ConfigError for a file that holds none.
    """

    def __init__(self, username: str, path: Path) -> None:
        self._username = username
        self._path = path
        self._accepted: Login | None = None
        self._read()

    def candidates(self) -> Iterator[Login | None]:
        """Accepted before, then what the file holds by now."""
        if self._accepted is not None:
            yield self._accepted
        yield from self.others()

    def others(self) -> Iterator[Login | None]:
        """What the file holds, unless that is what was accepted before."""
        login = self._read()
        if login != self._accepted:
            yield login

    def remember(self, login: Login | None) -> None:
        """Held in memory only."""
        self._accepted = login

    def _read(self) -> Login:
        try:
            password = self._path.read_text().rstrip("\r\n")
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is no UTF-8 text"
            raise ConfigError(f"The password in {self._path} cannot be read ({reason}).") from None
        if not password:
            raise ConfigError(f"The file {self._path} is empty: it must hold the password.")
        return Credentials(self._username, password)
