# SPDX-License-Identifier: Apache-2.0
"""A login by client certificate (mutual TLS), whose private key stays off the disk."""

from __future__ import annotations

import os
import ssl
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from kafka_lag.errors import ConfigError


@dataclass(frozen=True, slots=True)
class ClientCertificate:
    """A certificate chain (PEM) and a TLS context that holds the key to it; the chain tells it."""

    chain: str = field(repr=False)
    context: ssl.SSLContext = field(repr=False, compare=False)

    def client_options(self) -> dict[str, Any]:
        """Settings of kafka-python's connection manager, which then reads no other TLS setting."""
        return {"ssl_context": self.context}


def client_certificate(secret_id: str, fields: Any, cafile: str | None) -> ClientCertificate:
    """The login that a secret's JSON holds; brokers are checked against `cafile`.

    Raises ConfigError, which names the secret and quotes nothing of it.
    """
    told = fields if isinstance(fields, dict) else {}
    chain, key = told.get("certificate"), told.get("private_key")
    password = told.get("private_key_password") or ""
    if not (isinstance(chain, str) and isinstance(key, str) and isinstance(password, str)):
        raise ConfigError(
            f"The secret {secret_id} must be a JSON object with two strings, "
            '"certificate" and "private_key", and "private_key_password" where the key has one.'
        )
    context = _context(cafile)
    fault = _fault(context, f"{chain}\n{key}", password)
    if fault:
        raise ConfigError(f"The secret {secret_id} holds no client certificate to use: {fault}.")
    return ClientCertificate(chain, context)


def _context(cafile: str | None) -> ssl.SSLContext:
    # Made as kafka-python makes its own: the default one of Python 3.13 refuses some private
    # authorities that the other protocols of ours accept.
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    if cafile is None:
        context.load_default_certs()
        return context
    try:
        context.load_verify_locations(cafile)
    except OSError as error:
        raise ConfigError(f"cafile: {cafile} holds no PEM certificates ({error}).") from error
    return context


def _fault(context: ssl.SSLContext, pem: str, password: str) -> str | None:
    """What is wrong with a pair, None once the context holds it."""
    try:
        with as_file(pem.encode()) as path:
            # A password is always given, as OpenSSL asks the terminal for one that is missing.
            context.load_cert_chain(path, password=password)
    except ssl.SSLError as error:
        if error.reason == "KEY_VALUES_MISMATCH":
            return '"private_key" does not fit the first certificate of "certificate"'
    except ValueError:
        # Letters no PEM has, or a password too long. Its message may quote them.
        pass
    else:
        return None
    return (
        '"certificate" or "private_key" is no PEM text, or "private_key_password" is not the key\'s'
    )


def _in_memory() -> int | None:
    """A file of no folder, None where the system has no such thing."""
    if sys.platform == "linux":
        with suppress(OSError):
            return os.memfd_create("client-certificate")
    return None


@contextmanager
def as_file(content: bytes, in_memory: Callable[[], int | None] = _in_memory) -> Iterator[str]:
    """A path to read the content at, for its owner alone; gone at the end.

    Python's ssl reads keys from files only. Without a file `in_memory` it is a temporary one.
    """
    descriptor = in_memory()
    if descriptor is None:
        with tempfile.NamedTemporaryFile() as file:
            file.write(content)
            file.flush()
            yield file.name
        return
    with os.fdopen(descriptor, "wb") as memory:
        memory.write(content)
        memory.flush()
        yield f"/proc/self/fd/{descriptor}"
