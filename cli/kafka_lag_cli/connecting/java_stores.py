# SPDX-License-Identifier: Apache-2.0
"""Certificates and keys in the stores that Java's tools keep: JKS, and PKCS12 with `cryptography`.

A JKS store holds its certificates as they are, and a hash of all under its password.
"""

from __future__ import annotations

import hashlib
import hmac
import ssl
from collections.abc import Iterator
from importlib.util import find_spec
from io import BytesIO
from typing import Final

_MAGICS: Final = {
    "JKS": b"\xfe\xed\xfe\xed",
    "JCEKS": b"\xce\xce\xce\xce",
    "PKCS12": b"\x30",
}
_WITH_TYPES, _VERSIONS = 2, (1, 2)
_KEY, _CERTIFICATE = 1, 2
_HASH_BYTES, _MILLISECONDS_BYTES = 20, 8
# What Sun's own provider hashes between the password and the store.
_WHITENER: Final = b"Mighty Aphrodite"


class StoreError(Exception):
    """Why a store cannot be read, as the end of a sentence about it."""


def find_type(content: bytes) -> str | None:
    """Returns JKS, JCEKS or PKCS12; null if the bytes are not such a store."""
    return next((kind for kind, magic in _MAGICS.items() if content.startswith(magic)), None)


def can_read_pkcs12() -> bool:
    """Returns true if the package that reads PKCS12 is installed."""
    return find_spec("cryptography") is not None


def read_jks_authorities(content: bytes, password: str) -> str:
    """The certificates that Java trusts with a JKS store, in PEM: those of a client's own key are
    its first. Without a password the hash is not compared, as in Java. Raises StoreError.
    """
    hashed, found = content[:-_HASH_BYTES], content[-_HASH_BYTES:]
    expected = hashlib.sha1(password.encode("utf-16-be", "surrogatepass") + _WHITENER + hashed)  # noqa: S324
    if password and not hmac.compare_digest(expected.digest(), found):
        raise StoreError("is damaged, or has another password")
    try:
        return "".join(map(ssl.DER_cert_to_PEM_cert, _jks_certificates(BytesIO(hashed))))
    except EOFError:
        raise StoreError("is damaged") from None


def _jks_certificates(store: BytesIO) -> Iterator[bytes]:
    def take(size: int) -> bytes:
        taken = store.read(size)
        if len(taken) < size:
            raise EOFError
        return taken

    def number(size: int = 4) -> int:
        return int.from_bytes(take(size), "big")

    def certificate() -> bytes:
        if version == _WITH_TYPES:
            take(number(2))
        return take(number())

    take(len(_MAGICS["JKS"]))
    version = number()
    if version not in _VERSIONS:
        raise StoreError(f"is of version {version}, which no Java has written")
    for _ in range(number()):
        kind = number()
        take(number(2))
        take(_MILLISECONDS_BYTES)
        if kind == _CERTIFICATE:
            yield certificate()
        elif kind == _KEY:
            take(number())
            yield from [certificate() for _ in range(number())][:1]
        else:
            raise EOFError


def read_pkcs12(content: bytes, password: str) -> tuple[str | None, str]:
    """The key of a PKCS12 store, None without any, and all its certificates, in PEM, the key's own
    first. Raises StoreError.
    """
    # Costs the start of those alone who have such a store.
    from cryptography.exceptions import UnsupportedAlgorithm  # noqa: PLC0415
    from cryptography.hazmat.primitives import serialization  # noqa: PLC0415
    from cryptography.hazmat.primitives.serialization import pkcs12  # noqa: PLC0415

    try:
        store = pkcs12.load_pkcs12(content, password.encode("utf-8", "replace") or None)
    except (ValueError, UnsupportedAlgorithm):
        raise StoreError("is damaged, or has another password") from None
    certificates = [*([store.cert] if store.cert else []), *store.additional_certs]
    pem = serialization.Encoding.PEM
    key = store.key and store.key.private_bytes(
        pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    chain = b"".join(each.certificate.public_bytes(pem) for each in certificates)
    return key.decode() if key else None, chain.decode()
