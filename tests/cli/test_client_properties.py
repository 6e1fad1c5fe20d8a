# SPDX-License-Identifier: Apache-2.0
"""`client.properties` of Kafka's own tools: how a login is read, and what is said of slips."""

from __future__ import annotations

import threading
from base64 import b64decode
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from ssl import TLSVersion
from typing import ClassVar
from urllib.parse import parse_qs

import click
import pytest
import trustme
from hypothesis import given
from hypothesis import strategies as st

from kafka_lag.brokers.access import IAM, Credentials
from kafka_lag.brokers.aws_login import TokenLogin
from kafka_lag.brokers.login import CertifiedLogin, ClientCertificate
from kafka_lag_cli.account.session import AwsRole
from kafka_lag_cli.command import main
from kafka_lag_cli.connecting.client_properties import parse_properties, read_client_properties
from kafka_lag_cli.connecting.login_options import BrokerOptions, brokers_of
from kafka_lag_cli.show import show

SCRAM = "org.apache.kafka.common.security.scram.ScramLoginModule required"
PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule required"
IAM_MODULE = "software.amazon.msk.auth.iam.IAMLoginModule required"
HANDLER = "software.amazon.msk.auth.iam.IAMClientCallbackHandler"
MSK = "b-1.orders.a1b2c3.c4.kafka.eu-west-1.amazonaws.com:9098"
AUTHORITY = trustme.CA()
LEAF = AUTHORITY.issue_cert("monitor.example")
CA_PEM = AUTHORITY.cert_pem.bytes().decode()
CLIENT_PEM = LEAF.private_key_and_cert_chain_pem.bytes().decode()
SECRET = "s3cr3t=w;ord"


def options(folder: Path, text: str, *more: str, servers: str | None = "b:9092") -> BrokerOptions:
    path = folder / "client.properties"
    path.write_text(text)
    brokers = ["--bootstrap-server", servers] if servers else []
    with show.make_context("show", [*brokers, "--command-config", str(path), *more]) as ctx:
        return brokers_of(ctx.params, {})


def in_properties(text: str) -> str:
    """A text of several lines as the value of a key."""
    return "\\n\\\n".join(text.strip().splitlines())


@pytest.mark.parametrize(
    ("text", "protocol", "mechanism", "login"),
    [
        ("", "PLAINTEXT", None, None),
        ("security.protocol=PLAINTEXT", "PLAINTEXT", None, None),
        ("security.protocol = SSL", "SSL", None, None),
        (
            "security.protocol=SASL_SSL\nsasl.mechanism=SCRAM-SHA-512\n"
            f'sasl.jaas.config={SCRAM} username="monitor" password="{SECRET}";',
            "SASL_SSL",
            "SCRAM-SHA-512",
            Credentials("monitor", SECRET),
        ),
        (
            "security.protocol: SASL_PLAINTEXT\nsasl.mechanism: PLAIN\n"
            f"sasl.jaas.config: {PLAIN} \\\n    username='monitor' \\\n    password='{SECRET}' ;\n",
            "SASL_PLAINTEXT",
            "PLAIN",
            Credentials("monitor", SECRET),
        ),
        (
            # Kafka's tools take both; the mechanism decides.
            "security.protocol=SASL_SSL\nsasl.mechanism=SCRAM-SHA-256\n"
            f"sasl.jaas.config={PLAIN} username=monitor password=word;",
            "SASL_SSL",
            "SCRAM-SHA-256",
            Credentials("monitor", "word"),
        ),
        (
            "security.protocol=sasl_ssl\nsasl.mechanism=PLAIN\n"
            f'sasl.jaas.config={PLAIN} username="$Connection" password="a\\\\"b\\\\\\\\c" ;',
            "SASL_SSL",
            "PLAIN",
            Credentials("$Connection", 'a"b\\c'),
        ),
        (
            "group.id=x\nmax.poll.records=5\nkey.deserializer=org.x.Y\nsecurity.protocol=SASL_SSL\n"
            "sasl.mechanism=SCRAM-SHA-512\nssl.endpoint.identification.algorithm=\n"
            f'sasl.jaas.config={SCRAM} username="monitor" password="w" tokenauth="false";',
            "SASL_SSL",
            "SCRAM-SHA-512",
            Credentials("monitor", "w"),
        ),
        (
            f'sasl.mechanism=SCRAM-SHA-512\nsasl.jaas.config={SCRAM} username="m" password="w";',
            "SASL_SSL",
            "SCRAM-SHA-512",
            Credentials("m", "w"),
        ),
    ],
    ids=[
        "nothing",
        "plaintext",
        "TLS",
        "SCRAM",
        "PLAIN over lines",
        "SCRAM by Plain's module",
        "escapes",
        "other keys",
        "no protocol",
    ],
)
def test_a_login_is_read_as_java_reads_it(
    text: str, protocol: str, mechanism: str | None, login: Credentials | None, tmp_path: Path
) -> None:
    found = options(tmp_path, text)

    (made,) = found.make_source().candidates()
    access = found.access
    assert (access.security_protocol, access.sasl_mechanism, made) == (protocol, mechanism, login)
    assert SECRET not in repr(found)
    assert found.protocol_named == ("security.protocol" in text)


@pytest.mark.parametrize(
    "text",
    [
        f"sasl.mechanism=AWS_MSK_IAM\nsasl.jaas.config={IAM_MODULE}"
        f' awsProfileName="ops" awsRoleArn="arn:r";\n'
        f"sasl.client.callback.handler.class={HANDLER}\n",
        "sasl.mechanism=OAUTHBEARER\nsasl.jaas.config=org.apache.kafka.common.security.oauthbearer."
        'OAuthBearerLoginModule required awsProfileName="ops" awsRoleArn="arn:r";\n'
        "sasl.login.callback.handler.class="
        "software.amazon.msk.auth.iam.IAMOAuthBearerLoginCallbackHandler\n"
        "sasl.client.callback.handler.class=org.apache.kafka.common.security.oauthbearer.internals."
        "OAuthBearerSaslClientCallbackHandler\n",
    ],
    ids=["AWS_MSK_IAM", "OAUTHBEARER"],
)
def test_aws_credentials_are_those_that_the_file_names(text: str, tmp_path: Path) -> None:
    found = options(tmp_path, f"security.protocol=SASL_SSL\n{text}", servers=MSK)

    assert (found.access.security_protocol, found.access.sasl_mechanism) == ("SASL_SSL", IAM)
    assert (found.region, found.profile, found.role) == ("eu-west-1", "ops", AwsRole("arn:r"))


class _Sts(BaseHTTPRequestHandler):
    """AWS STS, which gives the keys of a role to everybody and remembers the last request."""

    asked: ClassVar[dict[str, str]] = {}

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        _Sts.asked = {name: value for name, (value,) in parse_qs(body).items()}
        _Sts.asked["signed as"] = self.headers["Authorization"].split("Credential=")[1]
        _Sts.asked["token"] = self.headers["X-Amz-Security-Token"]
        parts = {"AccessKeyId": "ASIAROLE", "SecretAccessKey": "k", "SessionToken": "t"}
        parts["Expiration"] = "2100-01-01T00:00:00Z"
        keys = "".join(f"<{name}>{value}</{name}>" for name, value in parts.items())
        answer = (
            '<AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">'
            f"<AssumeRoleResult><Credentials>{keys}</Credentials></AssumeRoleResult>"
            "</AssumeRoleResponse>"
        ).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Says nothing."""


def test_a_role_is_assumed_as_the_file_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Sts) as sts:
        threading.Thread(target=sts.serve_forever, daemon=True).start()
        monkeypatch.setenv("AWS_ENDPOINT_URL_STS", f"http://127.0.0.1:{sts.server_port}")
        found = options(
            tmp_path,
            f"security.protocol=SASL_SSL\nsasl.mechanism=AWS_MSK_IAM\nsasl.jaas.config={IAM_MODULE}"
            ' awsRoleArn="arn:aws:iam::111122223333:role/reader" awsRoleSessionName="lag"'
            f' awsRoleAccessKeyId="AKIAFILE" awsRoleSecretAccessKey="{SECRET}"'
            ' awsRoleSessionToken="of-file" awsStsRegion="eu-north-1" awsRoleExternalId="ext"'
            " awsDebugCreds=true;\n",
            servers=MSK,
        )
        assert SECRET not in repr(found)
        login = found.make_login()
        assert isinstance(login, TokenLogin)
        token = b64decode(login.token() + "==", b"-_").decode()
        sts.shutdown()

    key, _, region, *_ = _Sts.asked["signed as"].split("/")
    assert (key, region, _Sts.asked["token"]) == ("AKIAFILE", "eu-north-1", "of-file")
    names = ("RoleArn", "RoleSessionName", "ExternalId")
    said = [_Sts.asked[name] for name in names]
    assert said == ["arn:aws:iam::111122223333:role/reader", "lag", "ext"]
    assert "X-Amz-Credential=ASIAROLE" in token


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ssl.enabled.protocols=TLSv1.2,TLSv1.1,TLSv1", (TLSVersion.TLSv1_2, TLSVersion.TLSv1_2)),
        ("ssl.enabled.protocols = TLSv1.3", (TLSVersion.TLSv1_3, TLSVersion.TLSv1_3)),
        ("ssl.protocol=TLSv1.2", (TLSVersion.TLSv1_2, TLSVersion.TLSv1_2)),
        ("ssl.enabled.protocols=TLSv1.2,TLSv1.3\nssl.protocol=TLS", None),
    ],
)
@pytest.mark.parametrize("certificate", [True, False])
def test_versions_of_tls_are_those_of_the_file(
    text: str,
    expected: tuple[TLSVersion, TLSVersion] | None,
    certificate: bool,
    tmp_path: Path,
) -> None:
    (tmp_path / "me.pem").write_text(CLIENT_PEM)
    mine = "ssl.keystore.location=me.pem\n" if certificate else ""
    found = options(tmp_path, f"security.protocol=SSL\n{mine}{text}\n")

    (login,) = found.make_source().candidates()
    context = found.access.client_options(login).get("ssl_context")
    if expected is None and not certificate:
        assert context is None
    else:
        assert context is not None
        least, most = expected or (TLSVersion.TLSv1_2, TLSVersion.MAXIMUM_SUPPORTED)
        assert (context.minimum_version, context.maximum_version) == (least, most)


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("security.protocol=SSL\n", "utf-8-sig"),
        ("security.protocol=SSL\n", "utf-16"),
        ("# für alle\nsecurity.protocol=SSL\n", "latin-1"),
        ("# für alle\nsecurity.protocol=SSL\n", "utf-8"),
    ],
)
def test_a_file_may_begin_with_a_mark_and_be_in_latin_1(
    text: str, encoding: str, tmp_path: Path
) -> None:
    path = tmp_path / "client.properties"
    path.write_text(text, encoding)
    assert read_client_properties(path).security_protocol == "SSL"


def test_a_prefix_beside_the_plain_key_is_left_out(tmp_path: Path) -> None:
    text = "security.protocol=SSL\nproducer.security.protocol=SASL_SSL\n"
    assert options(tmp_path, text).access.security_protocol == "SSL"


def test_keys_of_another_server_are_none_of_the_brokers(tmp_path: Path) -> None:
    text = (
        "bootstrap.servers=b:9092\nschema.registry.ssl.truststore.location=/etc/ca.pem\n"
        "confluent.monitoring.interceptor.security.protocol=SASL_SSL\n"
    )
    assert options(tmp_path, text, servers=None).access.security_protocol == "PLAINTEXT"


def test_brokers_may_be_in_the_file(tmp_path: Path) -> None:
    found = options(tmp_path, "bootstrap.servers=a:1, b:2\n", servers=None)
    assert found.access.bootstrap_servers == ("a:1", "b:2")


@pytest.mark.parametrize(
    "between", ["\\n\\\n", " \\\n", " ", "\\t", "\\r\\n"], ids=["lines", "on", "one", "tab", "CR"]
)
def test_any_white_space_parts_pem_in_the_file(between: str, tmp_path: Path) -> None:
    chain = "".join(blob.bytes().decode() for blob in LEAF.cert_chain_pems)
    texts = {
        "ssl.truststore.certificates": CA_PEM,
        "ssl.keystore.certificate.chain": chain,
        "ssl.keystore.key": LEAF.private_key_pem.bytes().decode(),
    }
    lines = [f"{key}={between.join(text.split(chr(10)))}\n" for key, text in texts.items()]
    found = options(tmp_path, "security.protocol=SSL\n" + "".join(lines))

    (login,) = found.make_source().candidates()
    assert isinstance(login, ClientCertificate)
    assert len(login.context.get_ca_certs()) == 1


@pytest.mark.parametrize("inline", [True, False], ids=["in the file", "beside it"])
def test_certificates_are_read_from_pem(inline: bool, tmp_path: Path) -> None:
    (tmp_path / "ca.pem").write_text(CA_PEM)
    (tmp_path / "me.pem").write_text(CLIENT_PEM)
    if inline:
        chain = "".join(blob.bytes().decode() for blob in LEAF.cert_chain_pems)
        stores = (
            "ssl.truststore.type=PEM\nssl.keystore.type=PEM\n"
            f"ssl.truststore.certificates={in_properties(CA_PEM)}\n"
            f"ssl.keystore.certificate.chain={in_properties(chain)}\n"
            f"ssl.keystore.key={in_properties(LEAF.private_key_pem.bytes().decode())}\n"
        )
    else:
        stores = (
            "ssl.truststore.type=PEM\nssl.keystore.type=PEM\n"
            f"ssl.truststore.location={tmp_path}/ca.pem\nssl.keystore.location=me.pem\n"
        )
    found = options(tmp_path, f"security.protocol=SSL\n{stores}")

    (login,) = found.make_source().candidates()
    assert isinstance(login, ClientCertificate)
    assert found.access.cafile is not None
    assert CA_PEM.split() == Path(found.access.cafile).read_text().split()
    assert len(login.context.get_ca_certs()) == 1


def test_a_certificate_goes_with_a_password(tmp_path: Path) -> None:
    (tmp_path / "me.pem").write_text(CLIENT_PEM)
    text = (
        "security.protocol=SASL_SSL\nsasl.mechanism=PLAIN\nssl.keystore.location=me.pem\n"
        f'sasl.jaas.config={PLAIN} username="m" password="w";\n'
    )
    (login,) = options(tmp_path, text).make_source().candidates()

    assert isinstance(login, CertifiedLogin)
    sent = login.client_options()
    assert (sent["sasl_plain_username"], sent["sasl_plain_password"]) == ("m", "w")
    assert sent["ssl_context"] is login.certificate.context


def test_a_file_is_read_again_when_its_password_is_rejected(tmp_path: Path) -> None:
    text = (
        "security.protocol=SASL_SSL\nsasl.mechanism=PLAIN\n"
        f'sasl.jaas.config={PLAIN} username="m" password="first";\n'
    )
    source = options(tmp_path, text).make_source()
    (first,) = source.candidates()
    source.remember(first)
    (tmp_path / "client.properties").write_text(text.replace("first", "second"))

    assert list(source.others()) == [Credentials("m", "second")]


def test_another_authority_may_stand_beside_a_store_of_java(tmp_path: Path) -> None:
    (tmp_path / "ca.pem").write_text(CA_PEM)
    text = "security.protocol=SSL\nssl.truststore.location=/etc/kafka/truststore.jks\n"

    found = options(tmp_path, text, "--cafile", str(tmp_path / "ca.pem"))

    assert found.access.cafile == str(tmp_path / "ca.pem")


IAM_FILE = f"security.protocol=SASL_SSL\nsasl.mechanism=AWS_MSK_IAM\nsasl.jaas.config={IAM_MODULE}"


@pytest.mark.parametrize(
    "location", ["/no/kafka.client.truststore.jks", "${JAVA_HOME}/lib/security/cacerts"]
)
def test_a_truststore_that_is_not_here_is_not_missed_for_brokers_of_msk(
    location: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = f"security.protocol=SSL\nssl.truststore.location={location}\n"

    found = options(tmp_path, text, servers=MSK.replace("9098", "9094"))

    assert (found.access.security_protocol, found.access.cafile) == ("SSL", None)
    (line,) = capsys.readouterr().err.splitlines()
    assert location in line
    assert line.endswith(
        "MSK's certificates are public ones, so the system's authorities are taken."
    )
    evil = "b.kafka.eu-west-1.amazonaws.com.example.com:9094"
    for other in (f"{MSK},b:9092", "b.kafka.eu-west-1.example.com:9094", evil):
        with pytest.raises(click.UsageError, match=r"ssl[.]truststore[.]location: "):
            options(tmp_path, text, servers=other)


SASL = "security.protocol=SASL_SSL\nsasl.mechanism=SCRAM-SHA-512\n"
# What stands in the file, and what leads to the repair.
MISTAKES = {
    "protocol": (
        "security.protocol=SASL-SSL",
        "'SASL-SSL' is none of PLAINTEXT, SSL, SASL_PLAINTEX",
    ),
    "near protocol": ("security.protocol=SALS_SSL", "did you mean SASL_SSL?"),
    "key": (
        "security.protocol=SSL\nssl.trustore.location=x",
        "did you mean ssl.truststore.location?",
    ),
    "no mechanism": (
        f'security.protocol=SASL_SSL\nsasl.jaas.config={SCRAM} username="u" password="p";',
        "sasl.mechanism is missing, and Kafka's default for it is GSSAPI (Kerberos)",
    ),
    "Kerberos": (
        "security.protocol=SASL_SSL\nsasl.mechanism=GSSAPI",
        "sasl.mechanism is GSSAPI (Kerberos), which is not spoken here: use one of SCRAM-SHA-512",
    ),
    "mechanism": (
        "security.protocol=SASL_SSL\nsasl.mechanism=SCRAM-SHA512\n"
        f'sasl.jaas.config={SCRAM} username="u" password="p";',
        "'SCRAM-SHA512' is not spoken here, did you mean SCRAM-SHA-512?",
    ),
    "no JAAS": (SASL, "sasl.jaas.config is missing, which names who logs in"),
    "mechanism alone": ("sasl.mechanism=PLAIN", "sasl.mechanism is there without sasl.jaas.config"),
    "no semicolon": (
        f'{SASL}sasl.jaas.config={SCRAM} username="u" password="{SECRET}"',
        "sasl.jaas.config must end with a semicolon",
    ),
    "open quotation": (
        f'{SASL}sasl.jaas.config={SCRAM} username="u" password="{SECRET};',
        "sasl.jaas.config has a quotation mark that is not closed",
    ),
    "no flag": (
        f'{SASL}sasl.jaas.config={SCRAM.split(maxsplit=1)[0]} username="u" password="{SECRET}";',
        "must be a module's class, required, and options",
    ),
    "quoted as a whole": (
        f"{SASL}sasl.jaas.config=\"{SCRAM} username='u' password='{SECRET}';\"",
        "sasl.jaas.config must end with a semicolon",
    ),
    "lines without backslashes": (
        f"{SASL}sasl.jaas.config={SCRAM}\n username=u\n password={SECRET};",
        "and each of its lines but the last with a backslash",
    ),
    "delegation token": (
        f'{SASL}sasl.jaas.config={SCRAM} username="t" password="{SECRET}" tokenauth="true";',
        "tokenauth is not supported: log in with a user instead of a delegation token",
    ),
    "no sign": (
        f'{SASL}sasl.jaas.config={SCRAM} username "u" password "{SECRET}";',
        'each option must be written name="value"',
    ),
    "no username": (f'{SASL}sasl.jaas.config={SCRAM} password="{SECRET}";', 'no username="..."'),
    "no password": (f'{SASL}sasl.jaas.config={SCRAM} username="u";', 'no password="..."'),
    "module": (
        f'{SASL}sasl.jaas.config=com.sun.security.auth.module.Krb5LoginModule required a="b";',
        "does not log in with SCRAM-SHA-512, which takes org.apache.kafka.common.security.scram",
    ),
    "handler": (
        f"{SASL}sasl.client.callback.handler.class=com.example.Vault\n"
        f'sasl.jaas.config={SCRAM} username="u" password="p";',
        "sasl.client.callback.handler.class names a class of Java's, which cannot run here",
    ),
    "another token": (
        "security.protocol=SASL_SSL\nsasl.mechanism=OAUTHBEARER\nsasl.jaas.config=org.apache.kafka."
        "common.security.oauthbearer.OAuthBearerLoginModule required;",
        "'OAUTHBEARER' is not spoken here",
    ),
    "key without its secret": (
        f'{IAM_FILE} awsRoleArn="a" awsRoleAccessKeyId="{SECRET}";',
        "awsRoleAccessKeyId and awsRoleSecretAccessKey go together",
    ),
    "key without a role": (
        f'{IAM_FILE} awsRoleAccessKeyId="{SECRET}" awsRoleSecretAccessKey="{SECRET}";',
        "awsRoleAccessKeyId is for a role, and awsRoleArn is missing",
    ),
    "option of IAM": (
        f'{IAM_FILE} awsProfile="ops";',
        "the option 'awsProfile' is unknown, did you mean awsProfileName?",
    ),
    "handler of IAM": (
        f"sasl.client.callback.handler.class=com.example.Vault\n{IAM_FILE};",
        "sasl.client.callback.handler.class names a class of Java's, which cannot run here",
    ),
    "option": (
        f'{SASL}sasl.jaas.config={SCRAM} username="u" password="p" Password="{SECRET}";',
        "the option 'Password' is unknown, did you mean password?",
    ),
    "second login": (
        f'{SASL}sasl.jaas.config={SCRAM} username="u" password="{SECRET}"; {SCRAM};',
        "sasl.jaas.config has more behind its semicolon, which ends it",
    ),
    "old TLS": (
        "security.protocol=SSL\nssl.enabled.protocols=TLSv1.1,TLSv1",
        "ssl.enabled.protocols: 'TLSv1.1,TLSv1' leaves none of TLSv1.2 and TLSv1.3",
    ),
    "old protocol": (
        "security.protocol=SSL\nssl.protocol=TLSv1.1",
        "ssl.protocol: 'TLSv1.1' leaves none of TLSv1.2 and TLSv1.3",
    ),
    "suites": (
        "security.protocol=SSL\nssl.cipher.suites=TLS_AES_256_GCM_SHA384",
        "ssl.cipher.suites has Java's names of suites, which cannot be chosen here",
    ),
    "providers": (
        "security.protocol=SASL_PLAINTEXT\nsecurity.providers=com.example.Fips",
        "security.providers names what secures a connection in Java",
    ),
    "engine": (
        "security.protocol=SSL\nssl.engine.factory.class=com.example.Engine",
        "ssl.engine.factory.class names what secures a connection in Java",
    ),
    "reference": (
        f'{SASL}sasl.jaas.config={SCRAM} username="u" password="${{file:/etc/s:password}}";',
        "sasl.jaas.config refers to another place (${...})",
    ),
    "Spring's prefix": (
        "spring.kafka.properties.security.protocol=SASL_SSL",
        "take security.protocol, without the prefix 'spring.kafka.properties.'.",
    ),
    "Connect's prefix": (
        "group.id=x\nconsumer.ssl.truststore.location=/etc/ca.pem",
        "take ssl.truststore.location, without the prefix 'consumer.'.",
    ),
    "Connect's prefix beside keys of the worker": (
        "bootstrap.servers=b:9092\nconsumer.security.protocol=SASL_SSL",
        "take security.protocol, without the prefix 'consumer.'.",
    ),
    "a variable's name": ("KAFKA_SECURITY_PROTOCOL=SSL", "without the prefix 'KAFKA_'."),
    "JSON": ('{\n  "security.protocol": "SASL_SSL",\n}', "take security.protocol."),
    "nested YAML": (
        "kafka:\n  security:\n    protocol: SASL_SSL",
        "'protocol' says SASL_SSL and is not read",
    ),
    "no text": ("\0\1", "it is no text, and must be a file of properties"),
    "librdkafka": ("sasl.username=u", "sasl.username is a name of librdkafka's"),
    "no truststore": (
        "security.protocol=SSL\nssl.truststore.location=/no/ca.pem",
        "ssl.truststore.location: /no/ca.pem cannot be read (No such file or directory)",
    ),
    "JKS": (
        "security.protocol=SSL\nssl.truststore.location=store.jks",
        "store.jks is damaged: check ssl.truststore.password",
    ),
    "PKCS12": (
        "security.protocol=SSL\nssl.keystore.location=store.p12\nssl.keystore.type=PKCS12",
        "store.p12 is damaged, or has another password: check ssl.keystore.password",
    ),
    "JCEKS": (
        "security.protocol=SSL\nssl.truststore.location=store.jceks",
        "and PEM and PKCS12 are read here: run keytool -list -rfc -storetype JCEKS -keystore ",
    ),
    "truststore elsewhere": (
        "security.protocol=SSL\nssl.truststore.location=${JAVA_HOME}/lib/security/cacerts",
        "cacerts refers to another place (${...}).",
    ),
    "chain without a key": (
        "security.protocol=SSL\nssl.keystore.certificate.chain=x",
        "ssl.keystore.certificate.chain and ssl.keystore.key go together",
    ),
    "keystore without a key": (
        "security.protocol=SSL\nssl.keystore.location=ca.pem",
        "ca.pem holds no private key: it must hold the key and its certificates",
    ),
    "key that is none": (
        "security.protocol=SSL\nssl.keystore.certificate.chain=x\nssl.keystore.key=y",
        "ssl.keystore.key holds no private key in PEM",
    ),
    "broken truststore": (
        "security.protocol=SSL\nssl.truststore.location=broken.pem",
        "ssl.truststore.location: ",
    ),
    "broken certificates": (
        "security.protocol=SSL\nssl.truststore.certificates=x",
        "ssl.truststore.certificates: it holds no certificates in PEM, or one that cannot be read",
    ),
    "truststore of nothing": (
        "security.protocol=SSL\nssl.truststore.location=empty.pem",
        "empty.pem holds no PEM",
    ),
    "brokers": (
        "bootstrap.servers=b-1.example",
        "bootstrap.servers: 'b-1.example' must be host:po",
    ),
}


@pytest.mark.parametrize(("text", "repair"), MISTAKES.values(), ids=MISTAKES)
def test_a_slip_is_one_sentence_with_file_and_key_and_without_a_secret(
    text: str, repair: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "client.properties"
    path.write_text(text)
    (tmp_path / "store.jks").write_bytes(b"\xfe\xed\xfe\xed\0\0\0\2")
    (tmp_path / "store.jceks").write_bytes(b"\xce\xce\xce\xce\0\0\0\2")
    (tmp_path / "store.p12").write_bytes(b"\x30\x82\0\0")
    (tmp_path / "ca.pem").write_text(CA_PEM)
    (tmp_path / "empty.pem").write_text("nothing")
    (tmp_path / "broken.pem").write_text("-----BEGIN CERTIFICATE-----\nx\n")
    servers = [] if "bootstrap" in text else ["-b", "b:9092"]

    assert main(["show", *servers, "--command-config", str(path)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("kafka-lag show: --command-config: ")
    assert str(path) in line
    assert repair in line
    assert SECRET not in line


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        (["--iam"], "--iam does not go with --command-config"),
        (["--username", "u"], "--username does not go with --command-config"),
        (["--security-protocol", "SSL"], "--security-protocol does not go with --command-config"),
        (["--role", "r"], "--role does not go with --command-config"),
        (["--region", "eu-west-1"], "--region is for --iam, or AWS_MSK_IAM"),
    ],
)
def test_another_login_beside_the_file_is_one_sentence(
    more: list[str], expected: str, tmp_path: Path
) -> None:
    with pytest.raises(click.UsageError, match=expected):
        options(tmp_path, "", *more)


def test_a_file_without_brokers_says_where_they_may_stand(tmp_path: Path) -> None:
    with pytest.raises(click.UsageError, match=r"or bootstrap[.]servers in "):
        options(tmp_path, "", servers=None)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# a comment\n! another\n\n  a = 1\n", {"a": "1"}),
        ("a=1\r\nb:2\rc 3\nd\n", {"a": "1", "b": "2", "c": "3", "d": ""}),
        ("a=b=c\na\\=b=c\n", {"a": "b=c", "a=b": "c"}),
        ("a = 1 \n", {"a": "1 "}),
        ("a=x\\\n   y\\\n\tz\n", {"a": "xyz"}),
        ("a=x\\\\\nb=\\u00e4\\t\\q\n", {"a": "x\\", "b": "ä\tq"}),
        ("a=1\na=2\n", {"a": "2"}),
        ("a=x\\\n# no comment\n", {"a": "x# no comment"}),
        ("a=1\\", {"a": "1"}),
    ],
)
def test_properties_are_read_as_java_reads_them(text: str, expected: dict[str, str]) -> None:
    assert parse_properties(text) == expected


@given(st.dictionaries(st.text(min_size=1), st.text()))
def test_what_java_would_write_is_what_is_read(properties: dict[str, str]) -> None:
    def escaped(text: str) -> str:
        units = text.encode("utf-16-be", "surrogatepass")
        return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))

    text = "".join(f"{escaped(key)}={escaped(value)}\n" for key, value in properties.items())

    read = {
        key.encode("utf-16-be", "surrogatepass"): value.encode("utf-16-be", "surrogatepass")
        for key, value in parse_properties(text).items()
    }
    assert read == {
        key.encode("utf-16-be", "surrogatepass"): value.encode("utf-16-be", "surrogatepass")
        for key, value in properties.items()
    }
