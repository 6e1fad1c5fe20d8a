# SPDX-License-Identifier: Apache-2.0
"""`--config`: reads a whole deployment, or one collector, for use on this machine."""

from __future__ import annotations

import json
import shutil
from base64 import b64decode
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import boto3
import click
import pytest
import tomlkit
from moto import mock_aws

from kafka_lag.brokers.access import IAM, Access, Credentials
from kafka_lag.brokers.aws_login import TokenLogin
from kafka_lag.errors import ConfigError
from kafka_lag.settings import settings_of
from kafka_lag_cli.connecting.collect_options import CollectOptions, collect_options_of
from kafka_lag_cli.show import show
from kafka_lag_config.faults import ConfigurationError
from kafka_lag_config.reading import CONTEXT_KEY
from tests.cli.aws_endpoint import AwsEndpoint, aws_endpoint
from tests.documents import GOOD, document
from tests.golden import Golden
from tests.infra.configured import cluster_json

REGION = "eu-west-1"
SERVERS = ["b-1.orders:9096", "b-2.orders:9096"]
AUTHORITY = Path(__file__).parents[1] / "infra" / "authority.pem"


def options(file: Path, *more: str) -> CollectOptions:
    """What is collected by a document, and the options beside it."""
    with show.make_context("show", ["--config", str(file), *more]) as ctx:
        return collect_options_of(ctx.params, environ={"XDG_CACHE_HOME": str(file.parent)})


def written(folder: Path, source: Any, name: str = "lag.json") -> Path:
    file = folder / name
    file.write_text(json.dumps(source))
    return file


def a_deployment(folder: Path, *clusters: dict[str, Any], name: str = "lag.json") -> Path:
    return written(folder, {"clusters": list(clusters)}, name)


def an_error(file: Path, *more: str) -> str:
    with pytest.raises((click.UsageError, ConfigError, ConfigurationError)) as caught:
        options(file, *more)
    error = caught.value
    (line,) = (error.line if isinstance(error, ConfigurationError) else str(error)).splitlines()
    return line


ORDERS = cluster_json(bootstrap_servers=SERVERS, window="4m")
USERS = cluster_json(name="users", bootstrap_servers=["b-1.users:9096"])


@pytest.fixture(name="msk")
def _msk(monkeypatch: pytest.MonkeyPatch) -> Iterator[AwsEndpoint]:
    """MSK's control plane on this machine."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    with aws_endpoint("KAFKA", monkeypatch) as msk:
        yield msk


def test_the_only_cluster_of_a_deployment_needs_no_name(tmp_path: Path) -> None:
    settings = options(a_deployment(tmp_path, ORDERS)).settings
    assert settings.cluster == "orders"
    assert settings.access == Access(tuple(SERVERS), "SASL_SSL", "SCRAM-SHA-512")
    assert settings.rules.window_ms == 4 * 60_000
    assert settings.sinks == ()


def test_what_cannot_be_read_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, msk: AwsEndpoint, golden: Golden
) -> None:
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(name, str(tmp_path / "none"))
    two = {"clusters": [ORDERS, USERS]}
    unnamed = {"clusters": [cluster_json()]}
    sources: dict[str, tuple[Any, list[str]]] = {
        "no JSON": ("{", []),
        "no object": ([], []),
        "no cluster": ({"clusters": []}, []),
        "a slip": ({"clusters": [ORDERS | {"windoww": 1}]}, []),
        "a collector's slip": ({**GOOD, "hold": 0, "windoww": 1}, []),
        "a later version": ({**GOOD, "version": 99}, []),
        "half a version": ({**GOOD, "version": 1}, []),
        "two clusters": (two, []),
        "no such cluster": (two, ["--cluster", "user"]),
        "another collector": (GOOD, ["--cluster", "orders"]),
        "no profile": (unnamed, ["--profile", "nobody"]),
        "no brokers": (unnamed, []),
    }
    lines = []
    for name, (source, more) in sources.items():
        file = tmp_path / "lag.json"
        file.write_text(source if isinstance(source, str) else json.dumps(source))
        lines.append(f"{name} -> {an_error(file, *more)}")
    msk.status, msk.body = 403, json.dumps({"message": "no"})
    lines.append(f"no right -> {an_error(a_deployment(tmp_path, cluster_json()))}")
    golden.holds("document-errors.txt", "\n".join(lines).replace(str(tmp_path), "/here"))


def test_what_is_tried_has_the_rules_of_what_is_deployed(tmp_path: Path) -> None:
    rules = {"allowed_lag": {"^o": 5}, "owner": {"g": "us"}, "hold": 7, "groups": {"deny": "^x"}}
    settings = options(a_deployment(tmp_path, ORDERS | rules)).settings
    assert settings.rules.allowed_lag.get("orders") == 5
    assert settings.rules.owners.get("g") == "us"
    assert settings.rules.hold == 7
    assert not settings.rules.groups.accepts("xy")


@pytest.mark.parametrize("suffix", ["json", "toml"])
def test_a_collectors_own_document_is_read_as_its_function_reads_it(
    suffix: str, tmp_path: Path
) -> None:
    file = tmp_path / f"shop.{suffix}"
    file.write_text(json.dumps(GOOD) if suffix == "json" else tomlkit.dumps(GOOD))
    assert options(file).settings == settings_of(document(sinks=[]))
    # It is of one cluster.
    assert options(file, "--cluster", "shop").settings.cluster == "shop"


def test_a_normalised_document_is_read_as_it_is(tmp_path: Path) -> None:
    file = written(tmp_path, document(hold=5))
    assert options(file).settings == settings_of(document(hold=5, sinks=[]))


@pytest.mark.parametrize("names_a_file", [True, False])
def test_a_cdk_json_holds_the_deployment_or_names_it(names_a_file: bool, tmp_path: Path) -> None:
    a_deployment(tmp_path, ORDERS)
    held = "lag.json" if names_a_file else {"clusters": [ORDERS]}
    file = written(tmp_path, {"context": {CONTEXT_KEY: held}}, "cdk.json")
    assert options(file).settings.cluster == "orders"


@pytest.mark.parametrize("kind", ["deployment", "collector"])
def test_the_authorities_lie_beside_the_document(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "below").mkdir()
    shutil.copy(AUTHORITY, tmp_path / "below" / "ca.pem")
    monkeypatch.chdir(tmp_path)
    if kind == "deployment":
        file = a_deployment(Path("below"), ORDERS | {"ca_file": "ca.pem"})
    else:
        file = written(Path("below"), {**GOOD, "cafile": "ca.pem"})
    found = options(file).settings.access.cafile
    assert found is not None
    assert Path(found).samefile(tmp_path / "below" / "ca.pem")


def test_runs_can_be_closer_than_the_deployed_ones_with_the_same_window(tmp_path: Path) -> None:
    file = a_deployment(tmp_path, ORDERS)
    with show.make_context("show", ["--config", str(file)]) as ctx:
        settings = collect_options_of(ctx.params, 5, {}).settings
    assert (settings.interval_ms, settings.rules.interval_ms) == (5_000, 5_000)
    assert settings.rules.window_ms == 4 * 60_000


@pytest.fixture(name="aws")
def _aws() -> Iterator[None]:
    with mock_aws():
        yield


@pytest.mark.usefixtures("aws")
def test_the_login_is_the_secret_of_the_deployed_collector(tmp_path: Path) -> None:
    client = boto3.client("secretsmanager", REGION)
    login = json.dumps({"username": "monitor", "password": "a-secret-word"})
    arn = client.create_secret(Name="AmazonMSK_monitor", SecretString=login)["ARN"]
    auth = {**ORDERS["auth"], "secret_arn": arn}
    account = ORDERS["arn"].replace("111122223333", arn.split(":")[4])
    file = a_deployment(tmp_path, ORDERS | {"auth": auth, "arn": account})
    (found, *_) = options(file).make_source().candidates()
    assert found == Credentials("monitor", "a-secret-word")
    assert "a-secret-word" not in repr(found)


@pytest.mark.usefixtures("aws")
def test_iam_is_signed_for_the_region_of_the_cluster(tmp_path: Path) -> None:
    cluster = ORDERS | {"auth": {"type": "iam"}, "bootstrap_servers": ["b-1.orders:9098"]}
    collect = options(a_deployment(tmp_path, cluster))
    assert collect.settings.access.sasl_mechanism == IAM
    (login,) = collect.make_source().candidates()
    assert isinstance(login, TokenLogin)
    assert len(login.token()) > 100


def test_a_cluster_without_a_login_needs_none(tmp_path: Path) -> None:
    open_cluster = ORDERS | {"auth": {"type": "none", "plaintext": True}}
    collect = options(a_deployment(tmp_path, open_cluster))
    assert collect.settings.access.security_protocol == "PLAINTEXT"
    assert list(collect.make_source().candidates()) == [None]


@pytest.mark.parametrize(
    ("auth", "field"),
    [
        (ORDERS["auth"], "BootstrapBrokerStringSaslScram"),
        ({"type": "iam"}, "BootstrapBrokerStringSaslIam"),
        ({"type": "none", "plaintext": True}, "BootstrapBrokerString"),
    ],
    ids=["scram", "iam", "plaintext"],
)
def test_msk_is_asked_for_brokers_that_nobody_names(
    auth: dict[str, Any], field: str, tmp_path: Path, msk: AwsEndpoint
) -> None:
    msk.body = json.dumps({field[0].lower() + field[1:]: "b-1.msk:1,b-2.msk:1"})
    settings = options(a_deployment(tmp_path, cluster_json(auth=auth))).settings
    assert settings.access.bootstrap_servers == ("b-1.msk:1", "b-2.msk:1")
    (asked,) = msk.asked
    assert cluster_json()["arn"] in unquote(asked.path)


def test_msk_is_not_asked_where_brokers_are_named(tmp_path: Path, msk: AwsEndpoint) -> None:
    options(a_deployment(tmp_path, ORDERS))
    beside = options(a_deployment(tmp_path, cluster_json()), "--bootstrap-servers", "tunnel:9096")
    assert beside.settings.access.bootstrap_servers == ("tunnel:9096",)
    assert msk.asked == []


@pytest.fixture(name="no_region")
def _no_region(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(name, str(tmp_path / "none"))


def one_collector(folder: Path, server: str, **more: Any) -> Path:
    return written(folder, {"cluster": "mine", "bootstrap_servers": [server], **more})


SIGNED = {"security_protocol": "SASL_SSL", "sasl_mechanism": IAM}
BY_SECRET = {
    "security_protocol": "SASL_SSL",
    "sasl_mechanism": "SCRAM-SHA-512",
    "secret_id": "AmazonMSK_monitor",
}


@pytest.mark.usefixtures("aws", "no_region")
@pytest.mark.parametrize("login", [SIGNED, BY_SECRET], ids=["signed", "secret"])
def test_a_region_that_nothing_holds_is_one_sentence(login: Any, tmp_path: Path) -> None:
    source = options(one_collector(tmp_path, "b-1.orders:9098", **login))
    with pytest.raises(ConfigError, match=r"^Neither the configuration .*: set AWS_REGION\.$"):
        source.make_source()


@pytest.mark.usefixtures("aws", "no_region")
@pytest.mark.parametrize(
    ("server", "region"),
    [
        ("b-1.orders.a1b2c3.c4.kafka.eu-north-1.amazonaws.com:9098", "eu-north-1"),
        ("b-1.orders:9098", "us-west-2"),
    ],
    ids=["brokers' names", "session"],
)
def test_the_region_is_found_without_a_deployment(
    server: str, region: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-west-2")
    (login,) = options(one_collector(tmp_path, server, **SIGNED)).make_source().candidates()
    assert isinstance(login, TokenLogin)
    url = b64decode(login.token() + "==", b"-_").decode()
    assert url.startswith(f"https://kafka.{region}.amazonaws.com/")
