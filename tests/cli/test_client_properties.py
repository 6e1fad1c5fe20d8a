# SPDX-License-Identifier: Apache-2.0
"""`client.properties` of Kafka's own tools: how logins are read, and errors for mistakes."""

from __future__ import annotations

from base64 import b64decode
from pathlib import Path
from ssl import TLSVersion
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
from tests.cli.aws_endpoint import aws_endpoint
from tests.golden import FOLDER, Golden

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


def cases_of(name: str) -> list[str]:
    """What each line of a golden file begins with: cases are added there, as `TEXT -> `."""
    _, *lines = (FOLDER / name).read_text().splitlines()
    assert len(lines) > 10
    return [line.partition(" -> ")[0] for line in lines]


def unescaped(text: str) -> str:
    return text.encode().decode("unicode_escape")


def test_a_login_is_read_as_java_reads_it(tmp_path: Path, golden: Golden) -> None:
    written = ["# What stands in client.properties, and the protocol, mechanism and login read."]
    for case in cases_of("client-logins.txt"):
        found = options(tmp_path, unescaped(case))
        assert SECRET not in repr(found)
        (login,) = found.make_source().candidates()
        named = "" if found.protocol_named else " (a guess)"
        who = f"{login.username} {login.password}" if isinstance(login, Credentials) else login
        access = found.access
        written.append(f"{case} -> {access.security_protocol}{named} {access.sasl_mechanism} {who}")
    golden.holds("client-logins.txt", "\n".join(written))


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


_KEYS_OF_A_ROLE = {
    "AccessKeyId": "ASIAROLE",
    "SecretAccessKey": "k",
    "SessionToken": "t",
    "Expiration": "2100-01-01T00:00:00Z",
}


def test_a_role_is_assumed_as_the_file_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    role = "arn:aws:iam::111122223333:role/reader"
    login_module = (
        f'{IAM_MODULE} awsRoleArn="{role}" awsRoleSessionName="lag" awsRoleExternalId="ext"'
        f' awsRoleAccessKeyId="AKIAFILE" awsRoleSecretAccessKey="{SECRET}"'
        ' awsRoleSessionToken="of-file" awsStsRegion="eu-north-1" awsDebugCreds=true;'
    )
    keys = "".join(f"<{name}>{value}</{name}>" for name, value in _KEYS_OF_A_ROLE.items())
    with aws_endpoint("STS", monkeypatch) as sts:
        sts.body = (
            '<AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">'
            f"<AssumeRoleResult><Credentials>{keys}</Credentials></AssumeRoleResult>"
            "</AssumeRoleResponse>"
        )
        found = options(
            tmp_path,
            "security.protocol=SASL_SSL\nsasl.mechanism=AWS_MSK_IAM\n"
            f"sasl.jaas.config={login_module}\n",
            servers=MSK,
        )
        assert SECRET not in repr(found)
        (login,) = found.make_source().candidates()
        assert isinstance(login, TokenLogin)
        token = b64decode(login.token() + "==", b"-_").decode()

    (asked,) = sts.asked
    key, _, region, *_ = asked.headers["Authorization"].split("Credential=")[1].split("/")
    token_of_file = asked.headers["X-Amz-Security-Token"]
    assert (key, region, token_of_file) == ("AKIAFILE", "eu-north-1", "of-file")
    said = {name: value for name, (value,) in parse_qs(asked.body).items()}
    assert (said["RoleArn"], said["RoleSessionName"], said["ExternalId"]) == (role, "lag", "ext")
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


def test_brokers_may_be_in_the_file(tmp_path: Path) -> None:
    found = options(tmp_path, "bootstrap.servers=a:1, b:2\n", servers=None)
    assert found.access.bootstrap_servers == ("a:1", "b:2")


def assert_has_certificates(found: BrokerOptions) -> None:
    (login,) = found.make_source().candidates()
    assert isinstance(login, ClientCertificate)
    assert found.access.cafile is not None
    assert CA_PEM.split() == Path(found.access.cafile).read_text().split()
    assert len(login.context.get_ca_certs()) == 1


@pytest.mark.parametrize(
    "between", ["\\n\\\n", " \\\n", " ", "\\t", "\\r\\n"], ids=["lines", "on", "one", "tab", "CR"]
)
def test_any_white_space_parts_pem_in_the_file(between: str, tmp_path: Path) -> None:
    texts = {
        "ssl.truststore.certificates": CA_PEM,
        "ssl.keystore.certificate.chain": "".join(
            blob.bytes().decode() for blob in LEAF.cert_chain_pems
        ),
        "ssl.keystore.key": LEAF.private_key_pem.bytes().decode(),
    }
    lines = [f"{key}={between.join(text.split(chr(10)))}\n" for key, text in texts.items()]
    types = "ssl.truststore.type=PEM\nssl.keystore.type=PEM\n"
    assert_has_certificates(options(tmp_path, f"security.protocol=SSL\n{types}{''.join(lines)}"))


def test_certificates_are_read_from_pem_beside_the_file(tmp_path: Path) -> None:
    (tmp_path / "ca.pem").write_text(CA_PEM)
    (tmp_path / "me.pem").write_text(CLIENT_PEM)
    stores = f"ssl.truststore.location={tmp_path}/ca.pem\nssl.keystore.location=me.pem\n"
    types = "ssl.truststore.type=PEM\nssl.keystore.type=PEM\n"
    assert_has_certificates(options(tmp_path, f"security.protocol=SSL\n{types}{stores}"))


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

    found = options(tmp_path, text, "-X", f"ssl.truststore.location={tmp_path}/ca.pem")

    assert found.access.cafile == str(tmp_path / "ca.pem")


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


def test_a_slip_is_one_sentence_with_file_and_key_and_without_a_secret(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    golden: Golden,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "store.jks").write_bytes(b"\xfe\xed\xfe\xed\0\0\0\2")
    (tmp_path / "store.jceks").write_bytes(b"\xce\xce\xce\xce\0\0\0\2")
    (tmp_path / "store.p12").write_bytes(b"\x30\x82\0\0")
    (tmp_path / "ca.pem").write_text(CA_PEM)
    (tmp_path / "empty.pem").write_text("nothing")
    (tmp_path / "broken.pem").write_text("-----BEGIN CERTIFICATE-----\nx\n")
    written = ["# client.properties, other options, and the line on stderr; the exit code is 2."]
    for case in cases_of("client-properties.txt"):
        text, _, more = case.partition(" | ")
        (tmp_path / "client.properties").write_text(unescaped(text))
        call = ["show", "--command-config", "client.properties", *more.split()]
        assert main(call) == 2, case
        (line,) = capsys.readouterr().err.splitlines()
        assert SECRET not in line
        written.append(f"{case} -> {line.replace(str(tmp_path), '/here')}")
    golden.holds("client-properties.txt", "\n".join(written))


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
