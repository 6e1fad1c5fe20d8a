# SPDX-License-Identifier: Apache-2.0
"""A file of the authorities that sign brokers' certificates, tried before anybody connects."""

from __future__ import annotations

import ssl
from pathlib import Path


def authorities_fault(path: Path, shown: str) -> str | None:
    """What is wrong with a file of CA certificates, None for one that a TLS client takes.

    `shown` is its name for the person who wrote it.
    """
    try:
        if not path.is_file():
            return f"there is no file {shown}"
        # The library that connects loads the file in the same way.
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(path)
    except ssl.SSLError:
        return f"{shown} holds no certificates in PEM, or one that cannot be read"
    except OSError as error:
        return f"{shown} cannot be read ({error.strerror})"
    return None
