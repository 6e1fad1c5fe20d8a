# SPDX-License-Identifier: Apache-2.0
"""Stores that the tools of Java 8 and 17 make: their contents, and advice that works."""

from __future__ import annotations

import re
import ssl
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
import trustme

from kafka_lag.brokers.login import ClientCertificate
from kafka_lag_cli.command import main
from kafka_lag_cli.connecting.login_options import BrokerOptions, brokers_of
from kafka_lag_cli.show import show
from tests.programs import find_program

AUTHORITY = trustme.CA()
LEAF = AUTHORITY.issue_cert("monitor.example")
PASSWORD = "the-word"
PHRASE = "a-pass-phrase"
# As Java 8 encrypts PKCS12, by ciphers that OpenSSL 3 calls legacy.
AS_JAVA_8 = "-J-Dkeystore.pkcs12.legacy"
AS_JAVA_18S_CACERTS = (
    "-J-Dkeystore.pkcs12.certProtectionAlgorithm=NONE",
    "-J-Dkeystore.pkcs12.macAlgorithm=NONE",
)
TRUSTSTORES = {
    "trust.jks": ("-storetype", "JKS"),
    "trust.jceks": ("-storetype", "JCEKS"),
    "trust-8.p12": ("-storetype", "PKCS12", AS_JAVA_8),
    "trust-17.p12": ("-storetype", "PKCS12"),
    "cacerts": ("-storetype", "PKCS12", *AS_JAVA_18S_CACERTS),
}
KEYSTORES = {
    "own.jks": ("-deststoretype", "JKS"),
    "own-8.p12": ("-deststoretype", "PKCS12", AS_JAVA_8),
    "own-17.p12": ("-deststoretype", "PKCS12"),
}


LATER_TRUSTSTORES = ("trust-17.p12", "cacerts")


def thorough(name: str) -> object:
    """A store that the fast tests leave out, as Java takes a second for each."""
    return pytest.param(name, marks=pytest.mark.thorough)


class JavaStores:
    """A folder with a blank in its name; a store is made when a test asks for it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._keytool = find_program("keytool", package="openjdk-17-jre-headless")
        AUTHORITY.cert_pem.write_to_path(folder / "ca.crt")
        LEAF.private_key_and_cert_chain_pem.write_to_path(folder / "own.crt")

    def make(self, name: str) -> Path:
        path = self.folder / name
        if path.exists():
            return path
        words: tuple[str, ...]
        if name in TRUSTSTORES:
            words = ("-noprompt", "-file", "ca.crt", "-keystore", name, "-storepass", PASSWORD)
            self._run(self._keytool, "-importcert", *words, *TRUSTSTORES[name])
            return path
        openssl = find_program("openssl", package="openssl")
        exported = ("-in", "own.crt", "-out", "own.p12", "-passout", f"pass:{PASSWORD}")
        self._run(openssl, "pkcs12", "-export", *exported)
        source = ("-srckeystore", "own.p12", "-srcstorepass", PASSWORD)
        made = ("-destkeystore", name, "-deststorepass", PASSWORD, *KEYSTORES[name])
        self._run(self._keytool, "-importkeystore", *source, *made)
        return path

    def _run(self, *words: str) -> None:
        subprocess.run(words, cwd=self.folder, check=True, capture_output=True)


@pytest.fixture(name="stores", scope="module")
def _stores(tmp_path_factory: pytest.TempPathFactory) -> JavaStores:
    return JavaStores(tmp_path_factory.mktemp("java's stores"))


def options(folder: Path, *lines: str) -> BrokerOptions:
    path = folder / "client.properties"
    path.write_text("\n".join(["security.protocol=SSL", *lines]))
    with show.make_context("show", ["-b", "b:1", "--command-config", str(path)]) as ctx:
        return brokers_of(ctx.params, {})


def assert_trusts_authority(found: BrokerOptions) -> None:
    assert found.access.cafile is not None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.load_verify_locations(found.access.cafile)
    expected = ssl.PEM_cert_to_DER_cert(AUTHORITY.cert_pem.bytes().decode())
    assert context.get_ca_certs(binary_form=True) == [expected]


def assert_logs_in_with_leaf(found: BrokerOptions) -> None:
    """In a handshake with a server that wants a certificate of the authority."""
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    AUTHORITY.issue_cert("b.example").configure_cert(server)
    AUTHORITY.configure_trust(server)
    server.verify_mode = ssl.CERT_REQUIRED
    (login,) = found.make_source().candidates()
    assert isinstance(login, ClientCertificate)
    AUTHORITY.configure_trust(login.context)
    ours, theirs = ssl.MemoryBIO(), ssl.MemoryBIO()
    ends = (
        login.context.wrap_bio(theirs, ours, server_hostname="b.example"),
        server.wrap_bio(ours, theirs, server_side=True),
    )
    for _ in range(4):
        for end in ends:
            try:
                end.do_handshake()
            except ssl.SSLWantReadError:
                continue
    shown = ends[1].getpeercert(binary_form=True)
    assert shown == ssl.PEM_cert_to_DER_cert(LEAF.cert_chain_pems[0].bytes().decode())


@pytest.mark.parametrize("name", ["trust.jks", "trust-8.p12", *map(thorough, LATER_TRUSTSTORES)])
def test_authorities_are_read_from_a_truststore(name: str, stores: JavaStores) -> None:
    where = (f"ssl.truststore.location={stores.make(name).name}", "ssl.truststore.type=JKS")
    password = f"ssl.truststore.password={PASSWORD}"
    assert_trusts_authority(options(stores.folder, *where, password))
    if name in ("trust.jks", "cacerts"):
        assert_trusts_authority(options(stores.folder, *where))


@pytest.mark.thorough
def test_a_keystore_is_a_truststore_of_its_first_certificate(stores: JavaStores) -> None:
    found = options(stores.folder, f"ssl.truststore.location={stores.make('own.jks')}")
    assert found.access.cafile is not None
    leaf = LEAF.cert_chain_pems[0].bytes().decode()
    assert Path(found.access.cafile).read_text().split() == leaf.split()


@pytest.mark.parametrize("name", ["own-8.p12", thorough("own-17.p12")])
def test_a_clients_key_is_read_from_pkcs12(name: str, stores: JavaStores) -> None:
    where = f"ssl.keystore.location={stores.make(name)}"
    assert_logs_in_with_leaf(options(stores.folder, where, f"ssl.keystore.password={PASSWORD}"))


@pytest.mark.parametrize(
    ("prefix", "name"),
    [
        ("ssl.truststore", "trust.jks"),
        ("ssl.truststore", "trust-8.p12"),
        ("ssl.keystore", "own-8.p12"),
    ],
)
def test_another_password_is_one_sentence_without_it(
    prefix: str, name: str, stores: JavaStores, capsys: pytest.CaptureFixture[str]
) -> None:
    path = stores.folder / "client.properties"
    stores.make(name)
    path.write_text(
        f"security.protocol=SSL\n{prefix}.location={name}\n{prefix}.password=not-the-word\n"
    )
    assert main(["show", "-b", "b:1", "--command-config", str(path)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert f"{name} is damaged, or has another password: check {prefix}.password." in line
    assert "not-the-word" not in line


# What the tools ask, in order: the new store's password twice, and the old one's.
IMPORTED = (PHRASE, PHRASE, PASSWORD)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("prefix", "name", "answers"),
    [
        ("ssl.truststore", "trust.jceks", [(PASSWORD,)]),
        ("ssl.truststore", "trust-8.p12", [(PASSWORD,)]),
        ("ssl.truststore", "trust-17.p12", [(PASSWORD,)]),
        ("ssl.keystore", "own.jks", [IMPORTED, (PHRASE,) * 3]),
        ("ssl.keystore", "own-8.p12", [(PASSWORD, PHRASE, PHRASE)]),
        ("ssl.keystore", "own-17.p12", [(PASSWORD, PHRASE, PHRASE)]),
    ],
)
def test_the_advice_for_a_store_that_is_not_read_makes_pem_of_it(
    prefix: str, name: str, answers: Sequence[Sequence[str]], stores: JavaStores, tmp_path: Path
) -> None:
    path = tmp_path / "client.properties"
    path.write_text(f"security.protocol=SSL\n{prefix}.location={stores.make(name)}\n")
    without = "import sys; sys.modules['cryptography'] = None; import kafka_lag_cli.command as c; "
    call = f"sys.exit(c.main(['show', '-b', 'b:1', '--command-config', {str(path)!r}]))"
    done = subprocess.run(
        [sys.executable, "-c", without + call], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert ("which takes an extra (" in line) == name.endswith(".p12")

    advice = re.search(r"[:.] (?:Or )?run (.*), and set (\S+)=(\S+?),? (?:and )?\S+type=PEM", line)
    assert advice is not None
    commands = advice[1].replace(" (with -legacy if OpenSSL 3 says unsupported)", "")
    for command, words in zip(commands.split(", then "), answers, strict=True):
        run = answer(command, words, tmp_path)
        if run.returncode and "unsupported" in run.stderr:
            run = answer(command.replace("pkcs12 ", "pkcs12 -legacy "), words, tmp_path)
        assert run.returncode == 0, run.stderr
    followed = [f"{advice[2]}={advice[3]}", f"{prefix}.type=PEM"]
    if prefix == "ssl.keystore":
        assert "and ssl.key.password, which is the pass phrase that you give openssl." in line
        assert_logs_in_with_leaf(options(tmp_path, *followed, f"ssl.key.password={PHRASE}"))
    else:
        assert_trusts_authority(options(tmp_path, *followed))


def answer(command: str, words: Sequence[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Runs a command without a terminal, as it asks that first."""
    return subprocess.run(
        ["sh", "-c", command],
        input="".join(f"{word}\n" for word in words),
        cwd=folder,
        capture_output=True,
        text=True,
        start_new_session=True,
        check=False,
    )
