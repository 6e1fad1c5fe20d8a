# SPDX-License-Identifier: Apache-2.0
"""TLS for one throw-away cluster: an authority nobody else trusts and a key store per node."""

from pathlib import Path

import trustme
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)


def write_certificates(cafile: Path, keystores: list[Path]) -> None:
    """Write the authority's certificate and PEM key stores, readable by their owner alone."""
    authority = trustme.CA(organization_name="msk-lag-reporter local cluster")
    authority.cert_pem.write_to_path(cafile)
    for keystore in keystores:
        leaf = authority.issue_cert("localhost", "127.0.0.1")
        keystore.touch(mode=0o600)
        chain = b"".join(blob.bytes() for blob in leaf.cert_chain_pems)
        keystore.write_bytes(_pkcs8(leaf.private_key_pem.bytes()) + chain)


def _pkcs8(pem: bytes) -> bytes:
    # Kafka reads private keys in PKCS #8 only, trustme writes OpenSSL's older form.
    key = load_pem_private_key(pem, password=None)
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
