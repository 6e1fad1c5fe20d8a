# SPDX-License-Identifier: Apache-2.0
"""Logins (user and password, client certificate) and their sources."""

from __future__ import annotations

import os
import ssl
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Protocol

from kafka_lag.brokers.access import Credentials, Login, TlsVersions, tls_context
from kafka_lag.errors import ConfigError

# Makes a login from a secret's id and its JSON (None if it is not JSON). Raises ConfigError,
# without a cause if that might quote the secret.
Shape = Callable[[str, Any], Login]


class CredentialSource(Protocol):
    """A source of logins."""

    def candidates(self) -> Iterator[Login | None]:
        """Yields logins to try in order until the brokers accept one; None stands for no login."""

    def others(self) -> Iterator[Login | None]:
        """Yields further logins to try if some brokers reject the login that others accepted."""

    def remember(self, login: Login | None) -> None:
        """Keeps the login that the brokers accepted, to start with it next time."""


def user_and_password(secret_id: str, fields: Any) -> Credentials:
    """Returns the login of a secret that has the shape of an MSK SCRAM secret.

    Raises ConfigError.
    """
    known = fields if isinstance(fields, dict) else {}
    username, password = known.get("username"), known.get("password")
    if not (isinstance(username, str) and username and isinstance(password, str) and password):
        raise ConfigError(
            f"The secret {secret_id} must be a JSON object with two strings, "
            '"username" and "password".'
        )
    return Credentials(username, password)


class FixedCredentials:
    """One login that never changes, or no login."""

    def __init__(self, login: Login | None = None) -> None:
        self._login = login

    def candidates(self) -> Iterator[Login | None]:
        """Yields the one login."""
        yield self._login

    def others(self) -> Iterator[Login | None]:
        """Yields nothing."""
        yield from ()

    def remember(self, login: Login | None) -> None:
        """Does nothing."""


@dataclass(frozen=True, slots=True)
class ClientCertificate:
    """A certificate chain (PEM) and a TLS context with its key; only the chain is compared."""

    chain: str = field(repr=False)
    context: ssl.SSLContext = field(repr=False, compare=False)

    def client_options(self) -> dict[str, Any]:
        """Returns the settings for kafka-python's connection manager.

        The manager then reads no other TLS setting.
        """
        return {"ssl_context": self.context}


def client_certificate(secret_id: str, fields: Any, cafile: str | None) -> ClientCertificate:
    """Returns the login in a secret's JSON; brokers are checked against `cafile`.

    Raises ConfigError, which names the secret and quotes nothing of it.
    """
    known = fields if isinstance(fields, dict) else {}
    chain, key = known.get("certificate"), known.get("private_key")
    password = known.get("private_key_password") or ""
    if not (isinstance(chain, str) and isinstance(key, str) and isinstance(password, str)):
        raise ConfigError(
            f"The secret {secret_id} must be a JSON object with two strings, "
            '"certificate" and "private_key", and "private_key_password" where the key has one.'
        )
    context = tls_context(cafile)
    fault = _fault(context, f"{chain}\n{key}", password)
    if fault:
        raise ConfigError(f"The secret {secret_id} holds no client certificate to use: {fault}.")
    return ClientCertificate(chain, context)


def certificate_of_pem(
    pem: str, password: str, cafile: str | None, holder: str, versions: TlsVersions | None = None
) -> ClientCertificate:
    """Returns the login of one text with a key and its certificates.

    `holder` names for people where the text is from. Raises ConfigError, which quotes nothing of
    the text.
    """
    context = tls_context(cafile, versions)
    if fault := _fault(context, pem, password, ("the key", "its certificates", "the password")):
        raise ConfigError(f"{holder} holds no client certificate to use: {fault}.")
    return ClientCertificate(pem, context)


@dataclass(frozen=True, slots=True)
class CertifiedLogin:
    """A user and password for brokers that also require a client certificate."""

    credentials: Credentials
    certificate: ClientCertificate

    def client_options(self) -> dict[str, Any]:
        """Returns this login's settings for kafka-python's connection manager."""
        return self.certificate.client_options() | self.credentials.client_options()


def _fault(
    context: ssl.SSLContext,
    pem: str,
    password: str,
    names: tuple[str, str, str] = ('"private_key"', '"certificate"', '"private_key_password"'),
) -> str | None:
    """Loads a key and certificate into the context and returns their fault, None if fine."""
    key, chain, secret = names
    try:
        with as_file(pem.encode()) as path:
            # A password is always passed, because OpenSSL asks the terminal for a missing one.
            context.load_cert_chain(path, password=password)
    except ssl.SSLError as error:
        if error.reason == "KEY_VALUES_MISMATCH":
            return f"{key} does not fit the first certificate of {chain}"
    except ValueError:
        # A character that no PEM has, or a password that is too long. The message may quote them.
        pass
    else:
        return None
    return f"{chain} or {key} is not PEM text, or {secret} is not the key's"


def _in_memory() -> int | None:
    """Returns the descriptor of a file in memory; None if the system has no such files."""
    if sys.platform == "linux":
        with suppress(OSError):
            return os.memfd_create("client-certificate")
    return None


@contextmanager
def as_file(content: bytes, in_memory: Callable[[], int | None] = _in_memory) -> Iterator[str]:
    """Yields a path to read the content at; only the owner may read it, and it is gone at the end.

    Python's ssl reads keys from files only. If `in_memory` gives none, the file is a temporary one.
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
