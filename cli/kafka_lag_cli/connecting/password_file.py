# SPDX-License-Identifier: Apache-2.0
"""A password that is changed while the process runs: a file, read again when brokers reject it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from kafka_lag.brokers.access import Credentials, Login
from kafka_lag.errors import ConfigError


class PasswordFile:
    """A login whose password is the file's text, without the line break at its end.

    Starts with what was accepted last. Raises ConfigError for a file that holds none at the start.
    """

    def __init__(self, username: str, path: Path) -> None:
        self._username = username
        self._path = path.expanduser()
        self._accepted: Login | None = None
        self._last = self._read()

    def candidates(self) -> Iterator[Login | None]:
        """Accepted before, then what the file holds by now."""
        if self._accepted is not None:
            yield self._accepted
        yield from self.others()

    def others(self) -> Iterator[Login | None]:
        """What the file holds, unless that is what was accepted before."""
        self._read_again()
        if self._last != self._accepted:
            yield self._last

    def remember(self, login: Login | None) -> None:
        """Held in memory only."""
        self._accepted = login

    def _read_again(self) -> None:
        """Keeps the last login where there is none now: a pipe is read once, a file replaced."""
        # Opening a named pipe again would wait for a writer.
        if self._path.is_file():
            with suppress(ConfigError):
                self._last = self._read()

    def _read(self) -> Login:
        try:
            password = self._path.read_text("utf-8").rstrip("\r\n")
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is no UTF-8 text"
            raise ConfigError(f"The password in {self._path} cannot be read ({reason}).") from None
        if not password:
            raise ConfigError(f"The file {self._path} is empty: it must hold the password.")
        return Credentials(self._username, password)
