# SPDX-License-Identifier: Apache-2.0
"""TLS certificates of one cluster, for brokers and clients; only the cluster trusts them."""

from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

import trustme
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)


@dataclass(frozen=True, slots=True)
class ClientPair:
    """A client's certificate chain and the private key to it, PEM; the key is never in the repr."""

    certificate: str
    private_key: str = field(repr=False)


class Authority:
    """The certificate authority that this cluster's brokers and clients trust."""

    def __init__(self) -> None:
        self._authority = trustme.CA(organization_name="msk-lag-reporter local cluster")

    def write(self, cafile: Path, keystores: list[Path]) -> None:
        """Writes its certificate and brokers' PEM key stores, readable only by their owner."""
        self._authority.cert_pem.write_to_path(cafile)
        for keystore in keystores:
            pair = _pair(self._authority.issue_cert("localhost", "127.0.0.1"))
            keystore.touch(mode=0o600)
            keystore.write_text(pair.private_key + pair.certificate)

    def client(self, name: str, until: datetime | None = None) -> ClientPair:
        """Returns a certificate with this common name; each call issues a new one."""
        # Java takes no certificate whose list of alternative names is empty.
        return _pair(self._authority.issue_cert(name, common_name=name, not_after=until))


def _pair(leaf: trustme.LeafCert) -> ClientPair:
    chain = b"".join(blob.bytes() for blob in leaf.cert_chain_pems)
    return ClientPair(chain.decode(), _pkcs8(leaf.private_key_pem.bytes()))


def _pkcs8(pem: bytes) -> str:
    # Kafka reads private keys in PKCS #8 only, trustme writes OpenSSL's older form.
    key = load_pem_private_key(pem, password=None)
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
