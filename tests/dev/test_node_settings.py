# SPDX-License-Identifier: Apache-2.0
"""The properties a node starts with."""

from pathlib import Path

import pytest

from dev.kafka import PROTOCOLS, Credentials
from dev.kafka.access import client_config, new_users
from dev.kafka.node.certificates import Authority
from dev.kafka.node.settings import Node, free_ports, new_id, new_nodes, server_properties

NODES = new_nodes(4, Path("cluster"))
MONITOR = Credentials("monitor", "secret-word")


def read(node: Node, extra: dict[str, str]) -> dict[str, str]:
    """Read the rendered settings back."""
    lines = server_properties(node, NODES, extra).splitlines()
    return {name: value for name, _, value in (line.partition("=") for line in lines)}


def test_settings_of_the_caller_win() -> None:
    settings = read(NODES[0], {"offsets.topic.num.partitions": "50", "message.max.bytes": "9"})

    assert settings["offsets.topic.num.partitions"] == "50"
    assert settings["message.max.bytes"] == "9"


def test_each_node_has_a_rack_of_its_own() -> None:
    assert [read(node, {})["broker.rack"] for node in NODES] == ["az1", "az2", "az3", "az4"]


@pytest.mark.parametrize(("brokers", "copies"), [(1, "1"), (2, "2"), (3, "3"), (4, "3")])
def test_commits_are_copied_to_three_brokers_at_most(brokers: int, copies: str) -> None:
    settings = server_properties(NODES[0], NODES[:brokers], {})

    assert f"offsets.topic.replication.factor={copies}\n" in settings


def test_ports_are_all_different_and_below_those_of_outgoing_connections() -> None:
    ports = free_ports(40)

    assert len(set(ports)) == 40
    assert max(ports) < 32_768


def test_a_password_is_not_in_the_repr() -> None:
    assert "secret-word" not in repr(MONITOR)


def test_clients_are_told_the_address_of_a_proxy_in_place_of_the_listener() -> None:
    text = server_properties(NODES[0], NODES, {}, {"SASL_SSL": "127.0.0.1:1"})
    settings = dict(line.partition("=")[::2] for line in text.splitlines())

    own = f"SASL_SSL://{NODES[0].address('SASL_SSL')}"
    assert own in settings["listeners"]
    assert own not in settings["advertised.listeners"]
    assert "SASL_SSL://127.0.0.1:1" in settings["advertised.listeners"]
    assert f"PLAINTEXT://{NODES[0].address('PLAINTEXT')}" in settings["advertised.listeners"]


def test_passwords_are_new_for_each_cluster() -> None:
    assert new_users("admin")["admin"] != new_users("admin")["admin"]


@pytest.mark.parametrize(
    ("protocol", "login", "authority"),
    [("SASL_SSL", True, True), ("SASL_PLAINTEXT", True, False), ("PLAINTEXT", False, False)],
)
def test_a_client_is_given_what_its_protocol_needs(
    protocol: str, login: bool, authority: bool
) -> None:
    (known,) = [each for each in PROTOCOLS if each == protocol]

    config = client_config("127.0.0.1:1", known, MONITOR, Path("ca.pem"))

    assert ("sasl.password" in config, "ssl.ca.location" in config) == (login, authority)


def test_a_client_with_a_certificate_is_given_no_password() -> None:
    pair = Authority().client("monitor")

    config = client_config("127.0.0.1:1", "SSL", pair, Path("ca.pem"))

    assert config["ssl.key.pem"] == pair.private_key
    assert {name for name in config if name.startswith("sasl")} == set()


def test_a_private_key_is_not_in_the_repr() -> None:
    assert "PRIVATE" not in repr(Authority().client("monitor"))


def test_no_id_is_an_option_on_a_command_line() -> None:
    assert [each for each in (new_id() for _ in range(2_000)) if not each[0].isalnum()] == []
