# SPDX-License-Identifier: Apache-2.0
"""A login that is changed while the process runs: a file, read again when brokers reject it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from kafka_lag.brokers.access import Credentials, Login
from kafka_lag.errors import ConfigError


class LoginFile:
    """A login that `read` makes of a file.

    Starts with what was accepted last. Raises ConfigError, as `read` does, for a file that holds
    none at the start.
    """

    def __init__(self, path: Path, read: Callable[[Path], Login]) -> None:
        self._path = path.expanduser()
        self._read = read
        self._accepted: Login | None = None
        self._last = read(self._path)

    def candidates(self) -> Iterator[Login | None]:
        """Yields the login that was accepted last, then the file's present one."""
        if self._accepted is not None:
            yield self._accepted
        yield from self.others()

    def others(self) -> Iterator[Login | None]:
        """Yields the file's login, unless it was accepted before."""
        self._read_again()
        if self._last != self._accepted:
            yield self._last

    def remember(self, login: Login | None) -> None:
        """Keeps the accepted login, in memory only."""
        self._accepted = login

    def _read_again(self) -> None:
        """Reads the file again; keeps the last login if there is none, as in a pipe."""
        # Opening a named pipe again would wait for a writer.
        if self._path.is_file():
            with suppress(ConfigError):
                self._last = self._read(self._path)


def read_password(username: str, path: Path) -> Credentials:
    """Returns the file's text without the line break at its end. Raises ConfigError."""
    try:
        password = path.read_text("utf-8-sig").rstrip("\r\n")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no UTF-8 text"
        raise ConfigError(f"The password in {path} cannot be read ({reason}).") from None
    if not password:
        raise ConfigError(f"The file {path} is empty: it must hold the password.")
    return Credentials(username, password)
