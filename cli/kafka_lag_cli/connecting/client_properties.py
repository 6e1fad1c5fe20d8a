# SPDX-License-Identifier: Apache-2.0
"""A login in the properties of Kafka's own tools: of a file, and of `-X KEY=VALUE`.

The format of a file is that of java.util.Properties, the value of `sasl.jaas.config` that of JAAS.
Keys of a file that do not describe the brokers or the login are left out, as they are in Java.
"""

from __future__ import annotations

import codecs
import difflib
import re
import shlex
import ssl
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from pathlib import Path
from typing import Any, Final

from kafka_lag.brokers.access import IAM, IAM_OF_MSK, TlsVersions
from kafka_lag.errors import ConfigError
from kafka_lag_cli.account.session import AwsRole
from kafka_lag_cli.connecting.java_stores import (
    StoreError,
    can_read_pkcs12,
    find_type,
    read_jks_authorities,
    read_pkcs12,
)
from kafka_lag_cli.needs import how_to_add
from kafka_lag_config.protocols import PASSWORD_MECHANISMS, PROTOCOLS

_KERBEROS: Final = "GSSAPI"
DEFAULT_MECHANISM: Final = "SCRAM-SHA-512"
_TIMEOUT: Final = "request.timeout.ms"
_LEAST_TIMEOUT, _LONGEST_TIMEOUT = 100, 300_000
_DEFAULT_TIMEOUT = 10_000
# Options of a command are seen by others on the machine.
_SECRET: Final = re.compile(r"jaas|password|passphrase|secret|credential|token|\.key$|key\.pem")
_NO_SECRETS: Final = (
    "is not taken here, because others on this machine see options: give a password by --username "
    "U with --password-env VAR or --password-file F, and other secrets in a file by "
    "--command-config F."
)
_IAM_CLASSES: Final = (
    "software.amazon.msk.auth.iam.IAMLoginModule",
    "software.amazon.msk.auth.iam.IAMClientCallbackHandler",
    "software.amazon.msk.auth.iam.IAMOAuthBearerLoginCallbackHandler",
)
_PASSWORD_MODULES: Final = (
    "org.apache.kafka.common.security.scram.ScramLoginModule",
    "org.apache.kafka.common.security.plain.PlainLoginModule",
)
_OAUTH_MODULE: Final = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule"
_HANDLERS: Final = ("sasl.client.callback.handler.class", "sasl.login.callback.handler.class")
# Kafka takes these where nobody names one: they hand over what the login has.
_OWN_HANDLERS: Final = (
    "org.apache.kafka.common.security.oauthbearer.internals.OAuthBearerSaslClientCallbackHandler",
    "org.apache.kafka.common.security.authenticator.SaslClientCallbackHandler",
)
# librdkafka's names, as in the configuration of kcat, and what Java's tools call them.
_OF_LIBRDKAFKA: Final = {
    "sasl.username": "sasl.jaas.config",
    "sasl.password": "sasl.jaas.config",
    "sasl.mechanisms": "sasl.mechanism",
    "ssl.ca.location": "ssl.truststore.location with ssl.truststore.type=PEM",
    "ssl.certificate.location": "ssl.keystore.location with ssl.keystore.type=PEM",
    "ssl.key.location": "ssl.keystore.location with ssl.keystore.type=PEM",
    "metadata.broker.list": "bootstrap.servers",
}
# Keys that secure the connection in Java alone: they are refused, never left out in silence.
_OF_JAVA: Final = (
    "security.providers",
    "sasl.login.class",
    "ssl.cipher.suites",
    "ssl.engine.factory.class",
    "ssl.provider",
    "ssl.keymanager.algorithm",
    "ssl.trustmanager.algorithm",
)
_OF_ANY_JVM: Final = ("PKIX", "SunX509", "NewSunX509", "SunJSSE")
_TLS_VERSIONS: Final = {"TLSV1.2": ssl.TLSVersion.TLSv1_2, "TLSV1.3": ssl.TLSVersion.TLSv1_3}
# Values of ssl.protocol that leave the choice to ssl.enabled.protocols.
_ANY_TLS: Final = ("", "TLS", "SSL", "TLSV1.3")
_PASSWORD_OPTIONS: Final = ("username", "password", "tokenauth")
_ROLE_OPTIONS: Final = {
    "awsRoleArn": "arn",
    "awsRoleSessionName": "session_name",
    "awsRoleExternalId": "external_id",
    "awsStsRegion": "region",
    "awsRoleAccessKeyId": "access_key_id",
    "awsRoleSecretAccessKey": "secret_access_key",
    "awsRoleSessionToken": "session_token",
}
# These say what is logged, and how often and how long to try.
_OTHER_AWS_OPTIONS: Final = ("awsDebugCreds", "awsMaxRetries", "awsMaxBackOffTimeMs")
# Keys that are read: a slip in one of these is worth a word.
_KEYS: Final = (
    "bootstrap.servers",
    "security.protocol",
    "sasl.mechanism",
    "sasl.jaas.config",
    *_HANDLERS,
    "ssl.truststore.type",
    "ssl.truststore.location",
    "ssl.truststore.certificates",
    "ssl.truststore.password",
    "ssl.keystore.type",
    "ssl.keystore.location",
    "ssl.keystore.certificate.chain",
    "ssl.keystore.key",
    "ssl.keystore.password",
    "ssl.key.password",
    "ssl.endpoint.identification.algorithm",
    "ssl.enabled.protocols",
    "ssl.protocol",
    _TIMEOUT,
    *_OF_JAVA,
)
_TAKE: Final = "Kafka's own tools, and this one, take"
_FAMILIES: Final = ("sasl.", "ssl.", "security.", "bootstrap.")
_ALIKE: Final = 0.9
# Other prefixes are of other servers, such as a schema registry, beside keys that are read.
_OF_CLIENTS: Final = re.compile(
    r"(^|\.)(kafka|properties|client|consumer|producer|admin|streams)\."
)
_SECURED: Final = [each for each in PROTOCOLS if each != "PLAINTEXT"]
_QUOTES: Final = "{}\"', \t"
_REFERENCE: Final = re.compile(r"\$\{[^}]*\}")
_TRUST, _OWN, _PKCS12 = "ssl.truststore", "ssl.keystore", "PKCS12"
_PEM_PART: Final = re.compile(
    r"-----BEGIN (?P<kind>[A-Z0-9 ]+)-----(?P<base64>[a-zA-Z0-9+/=\s]*)-----END (?P=kind)-----"
)
_PEM_WIDTH: Final = 64
_PRIVATE_KEY: Final = "PRIVATE KEY-----"
_ESCAPES: Final = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_JAAS_WORD: Final = re.compile(
    r"""\s*(?:(?P<sign>[=;])|"(?P<double>(?:[^"\\]|\\.)*)"|'(?P<single>(?:[^'\\]|\\.)*)'"""
    r"""|(?P<bare>[^\s;="']+))"""
)
_MODULE_AND_FLAG: Final = 2
_JAAS: Final = "sasl.jaas.config"
_JAAS_FLAGS: Final = ("required", "requisite", "sufficient", "optional")


@dataclass(frozen=True, slots=True)
class ClientProperties:
    """A login as the properties have it; what proves it is in no repr.

    `security_protocol` is null if they do not name it. `timeout` is in seconds. CA certificates are
    in the PEM file `cafile`, or are the PEM text `authorities`; without both they are the system's,
    which the file does not mean if there is a `missing_truststore`, a sentence. `client_pem` is the
    client's key with its certificates.
    """

    bootstrap_servers: str | None = None
    security_protocol: str | None = None
    sasl_mechanism: str | None = None
    username: str | None = None
    password: str | None = field(default=None, repr=False)
    profile: str | None = None
    role: AwsRole | None = None
    tls_versions: TlsVersions | None = None
    cafile: str | None = None
    authorities: str | None = field(default=None, repr=False)
    missing_truststore: str | None = None
    client_pem: str | None = field(default=None, repr=False)
    key_password: str = field(default="", repr=False)
    timeout: float = _DEFAULT_TIMEOUT / 1000


def read_given(texts: Sequence[str]) -> dict[str, str]:
    """Returns the properties of `-X KEY=VALUE`. Raises ConfigError, which quotes no secret."""
    found: dict[str, str] = {}
    for text in texts:
        key, sign, value = text.partition("=")
        key = key.strip()
        if not sign:
            raise ConfigError("-X must be KEY=VALUE, such as security.protocol=SSL.")
        if key == "sasl.username":
            raise ConfigError(f"-X {key} is not read: give --username U.")
        if _SECRET.search(key.lower()):
            raise ConfigError(f"-X {key} {_NO_SECRETS}")
        if key not in (*_KEYS, *_OF_LIBRDKAFKA):
            advice = _advise(key, _KEYS, ": it is not about brokers or a login.")
            raise ConfigError(f"-X {key} is not read{advice}")
        found[key] = value.strip()
    return found


def read_client_properties(
    path: Path | None, given: Mapping[str, str] | None = None, username: str | None = None
) -> ClientProperties:
    """Returns the login of a file and of `given` properties, which win.

    Somebody with a `username` logs in by a password that is given elsewhere. Raises ConfigError:
    one sentence with the file and the key, without the value of a secret.
    """
    given = given or {}
    try:
        content = path.read_bytes() if path else b""
    except OSError as error:
        raise ConfigError(f"{path} cannot be read ({error.strerror}).") from None
    try:
        properties = {**parse_properties(_decode(content)), **given}
        return _login(properties, path.parent if path else Path(), username)
    except _FaultError as error:
        key = str(error).partition(":")[0].partition(" ")[0]
        place = "-X " if key in given else f"{path}: " if path else ""
        raise ConfigError(f"{place}{error}") from None


def parse_properties(text: str) -> dict[str, str]:
    """Returns keys and values as java.util.Properties loads them; the last of a key counts."""
    found: dict[str, str] = {}
    for line in _logical_lines(text):
        key, value = _split(line)
        found[key] = value
    return found


def _decode(content: bytes) -> str:
    """Decodes UTF-8 if the bytes are valid, else Latin-1, which Java takes such a file for."""
    # Windows PowerShell writes UTF-16 with a mark.
    is_utf_16 = content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    for encoding in ("utf-16",) if is_utf_16 else ("utf-8-sig", "latin-1"):
        with suppress(UnicodeDecodeError):
            text = content.decode(encoding)
            if "\0" not in text:
                return text
    raise _FaultError("it is no text, and must be a file of properties.")


class _FaultError(Exception):
    """A sentence about what is wrong with a key; the file's name comes before it."""


def _logical_lines(text: str) -> Iterator[str]:
    """Yields lines without comments; a line that ends in an odd number of backslashes goes on."""
    pending = ""
    for raw in re.split(r"\r\n|\r|\n", text):
        line = raw.lstrip(" \t\f")
        if not pending and (not line or line[0] in "#!"):
            continue
        pending += line
        backslashes = len(pending) - len(pending.rstrip("\\"))
        if backslashes % 2:
            pending = pending[:-1]
            continue
        yield pending
        pending = ""
    if pending:
        yield pending


def _split(line: str) -> tuple[str, str]:
    """Returns key and value; the key ends at the first =, : or blank without a backslash."""
    at = 0
    while at < len(line) and line[at] not in "=: \t\f":
        at += 2 if line[at] == "\\" else 1
    rest = line[at:].lstrip(" \t\f")
    if rest[:1] in ("=", ":"):
        rest = rest[1:].lstrip(" \t\f")
    return _unescape(line[:at]), _unescape(rest)


def _unescape(text: str) -> str:
    def escaped(found: re.Match[str]) -> str:
        char: str = found[1]
        return chr(int(char[1:], 16)) if len(char) > 1 else _ESCAPES.get(char, char)

    return re.sub(r"\\(u[0-9a-fA-F]{4}|.)", escaped, text, flags=re.DOTALL)


def _login(properties: Mapping[str, str], folder: Path, username: str | None) -> ClientProperties:
    _check_keys(properties)
    _check_disguised(properties)
    protocol = properties.get("security.protocol", "").strip().upper() or None
    if protocol is not None and protocol not in PROTOCOLS:
        raise _FaultError(
            f"security.protocol: {_shown(protocol)} is none of {', '.join(PROTOCOLS)}"
            f"{_advise(protocol, PROTOCOLS, '.')}"
        )
    logs_in = username is not None or _JAAS in properties or "sasl.mechanism" in properties
    sasl = protocol.startswith("SASL") if protocol else logs_in
    if username is not None and not sasl:
        raise _FaultError(
            f"security.protocol: {protocol} takes no --username: set it to SASL_SSL, or leave it "
            "out."
        )
    over_tls = protocol is None or protocol.endswith("SSL")
    found = ClientProperties(
        bootstrap_servers=properties.get("bootstrap.servers", "").strip() or None,
        security_protocol=protocol,
        timeout=_timeout(properties),
    )
    _check_java(properties, over_tls=over_tls)
    if over_tls:
        found = replace(
            found,
            tls_versions=_tls_versions(properties),
            client_pem=_client_pem(properties, folder),
            key_password=properties.get("ssl.key.password", ""),
            **_truststore(properties, folder),
        )
    else:
        # Doctor looks at such a port by TLS, too.
        with suppress(_FaultError):
            trusted = _truststore(properties, folder)
            trusted.pop("missing_truststore", None)
            found = replace(found, **trusted)
    if not sasl:
        return found
    return replace(found, **(_by_name(properties, username) if username else _sasl(properties)))


def _timeout(properties: Mapping[str, str]) -> float:
    """Returns the seconds that a broker has to answer."""
    text = properties.get(_TIMEOUT, "").strip() or str(_DEFAULT_TIMEOUT)
    if not text.isdecimal() or not _LEAST_TIMEOUT <= int(text) <= _LONGEST_TIMEOUT:
        raise _FaultError(
            f"{_TIMEOUT}: {_shown(text)} must be milliseconds, from {_LEAST_TIMEOUT} to "
            f"{_LONGEST_TIMEOUT:,}."
        )
    return int(text) / 1000


def _by_name(properties: Mapping[str, str], username: str) -> dict[str, Any]:
    """Returns the login of somebody who gives the password apart from the properties."""
    if _JAAS in properties:
        raise _FaultError(f"{_JAAS} names who logs in: leave --username out.")
    mechanism = properties.get("sasl.mechanism", DEFAULT_MECHANISM).strip().upper()
    if mechanism not in PASSWORD_MECHANISMS:
        raise _FaultError(
            f"sasl.mechanism: {_shown(mechanism)} is none of {', '.join(PASSWORD_MECHANISMS)}"
            f"{_advise(mechanism, PASSWORD_MECHANISMS, '.')}"
        )
    return {"sasl_mechanism": mechanism, "username": username}


def _check_keys(properties: Mapping[str, str]) -> None:
    for key, value in properties.items():
        if key in _OF_LIBRDKAFKA:
            raise _FaultError(f"{key} is a name of librdkafka's: {_TAKE} {_OF_LIBRDKAFKA[key]}.")
        # A truststore that is elsewhere is not missed where brokers have public certificates.
        if key in _KEYS and key != f"{_TRUST}.location" and _REFERENCE.search(value):
            raise _FaultError(
                f"{key} refers to another place (${{...}}), which is not looked up here: write the "
                "value itself."
            )
        if key not in _KEYS and key.startswith(_FAMILIES):
            near = difflib.get_close_matches(key, _KEYS, 1, _ALIKE)
            if near and near[0] not in properties:
                raise _FaultError(f"{key} is unknown, did you mean {near[0]}?")


def _check_java(properties: Mapping[str, str], *, over_tls: bool) -> None:
    for key in _OF_JAVA:
        value = properties.get(key, "").strip()
        if value and value not in _OF_ANY_JVM and (over_tls or not key.startswith("ssl.")):
            raise _FaultError(
                f"{key} works only in Java: leave it out, and OpenSSL uses its own default."
            )


def _tls_versions(properties: Mapping[str, str]) -> TlsVersions | None:
    """Returns the least and the greatest TLS version that the file allows; null without a limit."""
    listed = properties.get("ssl.enabled.protocols", "").split(",")
    enabled = [each.strip().upper() for each in listed if each.strip()] or list(_TLS_VERSIONS)
    protocol = properties.get("ssl.protocol", "").strip().upper()
    versions = [_TLS_VERSIONS[each] for each in enabled if each in _TLS_VERSIONS]
    key = "ssl.enabled.protocols"
    if protocol not in _ANY_TLS:
        # Such a client of Java's speaks no newer one, whatever is enabled.
        key = "ssl.protocol"
        versions = [each for each in versions if each == _TLS_VERSIONS.get(protocol)]
    if not versions:
        raise _FaultError(f"{key}: {_shown(properties[key])} leaves none of TLSv1.2 and TLSv1.3.")
    return None if len(set(versions)) > 1 else (versions[0], versions[0])


def _check_disguised(properties: Mapping[str, str]) -> None:
    """Raises _FaultError for keys of another program, if the file does not say what the brokers
    speak: without them nobody would log in.
    """
    if "security.protocol" in properties:
        return
    is_read = any(key in properties for key in _KEYS)
    for key, value in properties.items():
        plain = re.sub("[_-]", ".", key.strip(_QUOTES)).lower()
        meant = next((each for each in _KEYS if f".{plain}".endswith(f".{each}")), None)
        if meant is None and value.strip(_QUOTES).upper() in _SECURED:
            plain = meant = "security.protocol"
        if meant is None or meant in properties:
            continue
        prefix = plain.removesuffix(meant)
        if not is_read or not prefix or _OF_CLIENTS.search(prefix):
            without = (
                f", without the prefix {_shown(key.strip(_QUOTES)[: len(prefix)])}"
                if prefix
                else ""
            )
            raise _FaultError(f"{_shown(key)} is not read: {_TAKE} {meant}{without}.")


def _sasl(properties: Mapping[str, str]) -> dict[str, Any]:
    """Returns the login's fields for the file's SASL mechanism."""
    jaas = properties.get(_JAAS)
    if jaas is None:
        raise _FaultError(
            "sasl.jaas.config is missing, which names who logs in: add it to the file of "
            "--command-config, or give --username or --iam."
        )
    mechanism = properties.get("sasl.mechanism", _KERBEROS).strip().upper()
    if mechanism == _KERBEROS:
        missing = (
            "" if "sasl.mechanism" in properties else " is missing, and Kafka's default for it"
        )
        raise _FaultError(
            f"sasl.mechanism{missing} is GSSAPI (Kerberos), which is not spoken here: use one of "
            f"{_listed()}."
        )
    module, options = _parse_jaas(jaas)
    named = {key: properties.get(key, "").strip() for key in _HANDLERS}
    handlers = {key: each for key, each in named.items() if each and each not in _OWN_HANDLERS}
    if mechanism == IAM and any(each in _IAM_CLASSES for each in handlers.values()):
        mechanism = IAM_OF_MSK
    if mechanism == IAM_OF_MSK and all(each in _IAM_CLASSES for each in handlers.values()):
        return _by_role(module, options)
    if mechanism not in (*PASSWORD_MECHANISMS, IAM_OF_MSK):
        known = (*PASSWORD_MECHANISMS, IAM_OF_MSK)
        advice = _advise(mechanism, known, f": use one of {_listed()}.")
        raise _FaultError(f"sasl.mechanism: {_shown(mechanism)} is not spoken here{advice}")
    if handlers:
        key, *_ = [each for each in handlers if handlers[each] not in _IAM_CLASSES] or handlers
        raise _FaultError(
            f"{key} names a class of Java's, which cannot run here: write what it would find into "
            "sasl.jaas.config."
        )
    if module not in _PASSWORD_MODULES:
        raise _FaultError(
            f"sasl.jaas.config: {_shown(module)} does not log in with {mechanism}, which takes "
            f"{_PASSWORD_MODULES[mechanism == 'PLAIN']}."
        )
    # Brokers list their own users in the same place, as user_NAME.
    _check_options(_PASSWORD_OPTIONS, (each for each in options if not each.startswith("user_")))
    if options.get("tokenauth", "").lower() == "true":
        raise _FaultError(
            "sasl.jaas.config: tokenauth is not supported: log in with a user instead of a "
            "delegation token."
        )
    for name in ("username", "password"):
        if not options.get(name):
            raise _FaultError(f'sasl.jaas.config has no {name}="...".')
    return {
        "sasl_mechanism": mechanism,
        "username": options["username"],
        "password": options["password"],
    }


def _by_role(module: str, options: Mapping[str, str]) -> dict[str, Any]:
    """Returns AWS credentials of the environment, of a profile, or of a role to assume."""
    if module not in (*_IAM_CLASSES, _OAUTH_MODULE):
        raise _FaultError(
            f"sasl.jaas.config: {_shown(module)} does not log in with AWS credentials, which takes "
            f"{_IAM_CLASSES[0]}."
        )
    _check_options(("awsProfileName", *_ROLE_OPTIONS, *_OTHER_AWS_OPTIONS), options)
    given = {field: options[name] for name, field in _ROLE_OPTIONS.items() if options.get(name)}
    if "arn" not in given and given.keys() - {"region"}:
        lone = next(name for name, field in _ROLE_OPTIONS.items() if field in given)
        raise _FaultError(f"sasl.jaas.config: {lone} is for a role, and awsRoleArn is missing.")
    if ("access_key_id" in given) != ("secret_access_key" in given):
        raise _FaultError(
            "sasl.jaas.config: awsRoleAccessKeyId and awsRoleSecretAccessKey go together."
        )
    return {
        "sasl_mechanism": IAM,
        "profile": options.get("awsProfileName"),
        "role": AwsRole(**given) if "arn" in given else None,
    }


def _check_options(known: Sequence[str], options: Iterable[str]) -> None:
    for name in options:
        if name not in known:
            advice = _advise(name, known, f": it takes {', '.join(known)}.")
            raise _FaultError(f"sasl.jaas.config: the option {_shown(name)} is unknown{advice}")


def _parse_jaas(text: str) -> tuple[str, dict[str, str]]:
    """Returns module and options of one entry: MODULE FLAG NAME=VALUE ... ;"""
    words = _jaas_words(text)
    module, flag = (*words, None, None)[:_MODULE_AND_FLAG]
    if module is None or flag is None or flag.lower() not in _JAAS_FLAGS:
        raise _FaultError(
            "sasl.jaas.config must be a module's class, required, and options: "
            '...ScramLoginModule required username="..." password="...";'
        )
    rest = words[_MODULE_AND_FLAG:]
    options: dict[str, str] = {}
    for name, sign, value in zip_longest(rest[::3], rest[1::3], rest[2::3], fillvalue=""):
        if name is None or sign is not None or value is None:
            raise _FaultError('sasl.jaas.config: each option must be written name="value".')
        options[name] = value
    return module, options


def _jaas_words(text: str) -> list[str | None]:
    """Returns the words up to the semicolon; null stands for an unquoted equals sign."""
    words: list[str | None] = []
    at = 0
    while found := _JAAS_WORD.match(text, at):
        at = found.end()
        if found["sign"] == ";":
            if text[at:].strip():
                raise _FaultError("sasl.jaas.config has more behind its semicolon, which ends it.")
            return words
        if found["sign"]:
            words.append(None)
        elif found["bare"] is not None:
            words.append(found["bare"])
        else:
            words.append(re.sub(r"\\(.)", r"\1", found["double"] or found["single"] or ""))
    if text[at:].strip():
        raise _FaultError("sasl.jaas.config has a quotation mark that is not closed.")
    raise _FaultError(
        "sasl.jaas.config must end with a semicolon, and each of its lines but the last with a "
        "backslash."
    )


def _truststore(properties: Mapping[str, str], folder: Path) -> dict[str, Any]:
    """Returns the login's fields for CA certificates: inline, in a PEM file, or in a store."""
    inline = _inline_pem(properties, f"{_TRUST}.certificates")
    if inline is not None:
        return {"authorities": _check_authorities(inline, f"{_TRUST}.certificates: it")}
    path = _store(properties, _TRUST, folder)
    if path is None:
        return {}
    place = f"{_TRUST}.location: {path}"
    if _REFERENCE.search(str(path)):
        return {"missing_truststore": f"{place} refers to another place (${{...}})"}
    try:
        content = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError) as error:
        return {"missing_truststore": f"{place} cannot be read ({error.strerror})"}
    except OSError as error:
        raise _FaultError(f"{place} cannot be read ({error.strerror}).") from None
    if _is_pem(content):
        return {"cafile": str(path)}
    kind, password = _type(properties, _TRUST, content), properties.get(f"{_TRUST}.password", "")
    try:
        if kind == "JKS":
            authorities = read_jks_authorities(content, password)
        elif kind == _PKCS12 and can_read_pkcs12():
            _, authorities = read_pkcs12(content, password)
        else:
            of_type = "" if kind == _PKCS12 else f"-storetype {kind} "
            conversion = f"keytool -list -rfc {of_type}-keystore {shlex.quote(str(path))} > ca.pem"
            raise _FaultError(
                f"{place} {_unreadable(kind)} {conversion}, and set {_TRUST}.location=ca.pem "
                f"and {_TRUST}.type=PEM."
            )
    except StoreError as error:
        raise _FaultError(f"{place} {error}: check {_TRUST}.password.") from None
    return {"authorities": _check_authorities(authorities, place)}


def _check_authorities(pem: str, holder: str) -> str:
    """Returns the same text. Raises _FaultError if a TLS client does not take it."""
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(cadata=pem)
    except (ssl.SSLError, ValueError):
        fault = "holds no certificates in PEM, or one that cannot be read"
        raise _FaultError(f"{holder} {fault}.") from None
    return pem


def _client_pem(properties: Mapping[str, str], folder: Path) -> str | None:
    """Returns the client's key with its certificates; null without a key."""
    chain = _inline_pem(properties, f"{_OWN}.certificate.chain")
    key = _inline_pem(properties, f"{_OWN}.key")
    if chain is not None or key is not None:
        if chain is None or key is None:
            raise _FaultError(f"{_OWN}.certificate.chain and {_OWN}.key go together.")
        if _PRIVATE_KEY not in key:
            raise _FaultError(f"{_OWN}.key holds no private key in PEM.")
        return f"{chain}\n{key}\n"
    path = _store(properties, _OWN, folder)
    if path is None:
        return None
    place = f"{_OWN}.location: {path}"
    try:
        content = path.read_bytes()
    except OSError as error:
        raise _FaultError(f"{place} cannot be read ({error.strerror}).") from None
    if _is_pem(content):
        pem = content.decode("utf-8", "replace")
    else:
        pem = _own_of_store(properties, place, path, content)
    if _PRIVATE_KEY not in pem:
        raise _FaultError(
            f"{place} holds no private key: it must hold the key and its certificates."
        )
    return pem


def _own_of_store(properties: Mapping[str, str], place: str, path: Path, content: bytes) -> str:
    """Returns key and certificates of a PKCS12 store; the error of another says how to convert."""
    kind = _type(properties, _OWN, content)
    if kind == _PKCS12 and can_read_pkcs12():
        try:
            key, chain = read_pkcs12(content, properties.get(f"{_OWN}.password", ""))
        except StoreError as error:
            raise _FaultError(f"{place} {error}: check {_OWN}.password.") from None
        return f"{key or ''}{chain}"
    source, first = shlex.quote(str(path)), ""
    if kind != _PKCS12:
        first = (
            f"keytool -importkeystore -srckeystore {source} -srcstoretype {kind} "
            "-destkeystore me.p12 -deststoretype PKCS12, then "
        )
        source = "me.p12"
    raise _FaultError(
        f"{place} {_unreadable(kind)} {first}openssl pkcs12 -in {source} -out me.pem (with "
        f"-legacy if OpenSSL 3 says unsupported), and set {_OWN}.location=me.pem, {_OWN}.type=PEM "
        "and ssl.key.password, which is the pass phrase that you give openssl."
    )


def _unreadable(kind: str) -> str:
    if kind == _PKCS12:
        return f"is a store of type {kind}, which takes an extra ({how_to_add('pkcs12')}). Or run"
    return f"is a store of type {kind}, and PEM and PKCS12 are read here: run"


def _inline_pem(properties: Mapping[str, str], key: str) -> str | None:
    """A value in lines, as OpenSSL wants them: to Kafka any white space parts PEM, as a value that
    goes on in the next line has blanks.
    """

    def lines(found: re.Match[str]) -> str:
        text = "".join(found["base64"].split())
        parts = (text[at : at + _PEM_WIDTH] for at in range(0, len(text), _PEM_WIDTH))
        kind = found["kind"]
        return "\n".join([f"\n-----BEGIN {kind}-----", *parts, f"-----END {kind}-----\n"])

    value = properties.get(key)
    return None if value is None else _PEM_PART.sub(lines, value)


def _store(properties: Mapping[str, str], prefix: str, folder: Path) -> Path | None:
    location = properties.get(f"{prefix}.location", "").strip()
    if not location:
        return None
    path = Path(location).expanduser()
    # Java's tools take it from where they are started; beside the file is where people keep it.
    return path if path.is_absolute() or path.exists() else folder / path


def _is_pem(content: bytes) -> bool:
    return b"-----BEGIN " in content


def _type(properties: Mapping[str, str], prefix: str, content: bytes) -> str:
    """Returns the type of a store by its content. Raises _FaultError if it is not a store."""
    found = find_type(content)
    if found is None:
        raise _FaultError(f"{prefix}.location: {properties[f'{prefix}.location']} holds no PEM.")
    return found


def _advise(word: str, known: Sequence[str], otherwise: str) -> str:
    """Returns the end of a sentence about a word that is not known."""
    near = difflib.get_close_matches(word, known, 1)
    return f", did you mean {near[0]}?" if near else otherwise


def _listed() -> str:
    return ", ".join((*PASSWORD_MECHANISMS, IAM_OF_MSK))


def _shown(text: str) -> str:
    """Returns a value that is not a secret, cut to a readable length."""
    return repr(text if len(text) <= 60 else f"{text[:57]}...")  # noqa: PLR2004
