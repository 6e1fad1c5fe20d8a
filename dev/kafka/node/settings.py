# SPDX-License-Identifier: Apache-2.0
"""A node's settings: its addresses and its `server.properties`."""

import base64
import random
import socket
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Literal, get_args

Protocol = Literal["SASL_SSL", "SASL_PLAINTEXT", "SSL", "PLAINTEXT"]
PROTOCOLS: tuple[Protocol, ...] = get_args(Protocol)
CONTROLLER = "CONTROLLER"
HOST = "127.0.0.1"
MECHANISMS = ("SCRAM-SHA-512", "SCRAM-SHA-256")
TOKENS = "OAUTHBEARER"

# Under the range from which systems (Linux from 32768, macOS from 49152) give outgoing
# connections their port: else a client may hold the port of a broker that is about to restart.
_PORTS = range(20_000, 32_000)
_KAFKA = "org.apache.kafka.common.security"
_SCRAM_LOGIN = f"{_KAFKA}.scram.ScramLoginModule required;"
_TOKEN_LOGIN = f"{_KAFKA}.oauthbearer.OAuthBearerLoginModule required;"
# Takes tokens that nobody signed, for any name: fit for a cluster that only this machine reaches.
_TOKEN_CHECK = (
    f"{_KAFKA}.oauthbearer.internals.unsecured.OAuthBearerUnsecuredValidatorCallbackHandler"
)


@dataclass(frozen=True, slots=True)
class Node:
    """One broker and controller: its id (1, 2, ...), its listeners' ports, its own folder."""

    id: int
    ports: Mapping[str, int]
    folder: Path

    def address(self, listener: str) -> str:
        """Returns host:port of one listener."""
        return f"{HOST}:{self.ports[listener]}"

    @property
    def data(self) -> Path:
        """Returns the node's only log folder, in Kafka's sense of log."""
        return self.folder / "data"

    @property
    def log(self) -> Path:
        """Returns the file for the output of the process."""
        return self.folder / "broker.log"

    @property
    def properties(self) -> Path:
        """Returns the file with the settings of the process."""
        return self.folder / "server.properties"

    @property
    def keystore(self) -> Path:
        """Returns the PEM file with private key and certificate."""
        return self.folder / "keystore.pem"

    @property
    def truststore(self) -> Path:
        """Returns the PEM file of the authority that must have signed a client's certificate."""
        return self.folder.parent / "ca.pem"


def new_id() -> str:
    """Returns 16 random bytes as Kafka writes them: url-safe base64 without padding.

    None begins with a sign: on a command line it would be an option, as one of 64 was.
    """
    while not (text := base64.urlsafe_b64encode(uuid.uuid4().bytes).decode())[0].isalnum():
        pass
    return text.rstrip("=")


def new_nodes(count: int, folder: Path) -> list[Node]:
    """Returns nodes 1 to count, each with ports that nobody listens on now."""
    listeners = (*PROTOCOLS, CONTROLLER)
    ports = iter(free_ports(count * len(listeners)))
    return [
        Node(number, {name: next(ports) for name in listeners}, folder / f"node-{number}")
        for number in range(1, count + 1)
    ]


def free_ports(count: int) -> list[int]:
    """Returns random ports that can be bound on the loopback address."""
    candidates = random.sample(_PORTS, k=len(_PORTS))
    free = (port for port in candidates if _is_free(port))
    return [port for port, _ in zip(free, range(count), strict=False)]


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    return True


def server_properties(
    node: Node,
    nodes: list[Node],
    extra: Mapping[str, str],
    advertised: Mapping[Protocol, str] = MappingProxyType({}),
) -> str:
    """Returns one node's settings as text; those in `extra` win.

    `advertised` are addresses that clients get in place of the listeners' own.
    """
    own = [f"{name}://{node.address(name)}" for name in PROTOCOLS]
    offered = [f"{name}://{advertised.get(name, node.address(name))}" for name in PROTOCOLS]
    mapping = [f"{name}:{name}" for name in PROTOCOLS]
    copies = str(min(3, len(nodes)))
    properties = {
        "process.roles": "broker,controller",
        "node.id": str(node.id),
        "broker.rack": f"az{node.id}",
        "controller.quorum.voters": ",".join(
            f"{other.id}@{other.address(CONTROLLER)}" for other in nodes
        ),
        "log.dirs": str(node.data),
        "listeners": ",".join([*own, f"{CONTROLLER}://{node.address(CONTROLLER)}"]),
        "advertised.listeners": ",".join(offered),
        "listener.security.protocol.map": ",".join([*mapping, f"{CONTROLLER}:PLAINTEXT"]),
        "default.replication.factor": copies,
        "offsets.topic.replication.factor": copies,
        "transaction.state.log.replication.factor": copies,
        "ssl.keystore.location": str(node.keystore),
        "ssl.truststore.location": str(node.truststore),
    }
    return _render({**_ALWAYS, **properties, **extra})


_SASL = "listener.name.sasl_ssl"
# What each node has.
_ALWAYS = {
    "inter.broker.listener.name": "PLAINTEXT",
    "controller.listener.names": CONTROLLER,
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "allow.everyone.if.no.acl.found": "false",
    "super.users": "User:ANONYMOUS;User:admin",
    "sasl.enabled.mechanisms": ",".join(MECHANISMS),
    **{
        f"listener.name.{listener}.{mechanism.lower()}.sasl.jaas.config": _SCRAM_LOGIN
        for listener in ("sasl_ssl", "sasl_plaintext")
        for mechanism in MECHANISMS
    },
    f"{_SASL}.sasl.enabled.mechanisms": ",".join([*MECHANISMS, TOKENS]),
    f"{_SASL}.oauthbearer.sasl.jaas.config": _TOKEN_LOGIN,
    f"{_SASL}.oauthbearer.sasl.server.callback.handler.class": _TOKEN_CHECK,
    "ssl.keystore.type": "PEM",
    "ssl.truststore.type": "PEM",
    "listener.name.ssl.ssl.client.auth": "required",
    # A certificate's user is its common name, so that the permissions of that user are its own.
    "ssl.principal.mapping.rules": "RULE:^.*CN=([^,]+).*$/$1/",
    "auto.create.topics.enable": "false",
    "offsets.topic.num.partitions": "6",
    "transaction.state.log.min.isr": "1",
    "transaction.state.log.num.partitions": "3",
    "group.initial.rebalance.delay.ms": "0",
    # Leaders move when somebody moves them, not five minutes after the start.
    "auto.leader.rebalance.enable": "false",
    "log.initial.task.delay.ms": "1000",
    "log.retention.check.interval.ms": "1000",
    "log.segment.delete.delay.ms": "1000",
    "broker.heartbeat.interval.ms": "1000",
    # A killed broker may register again only when its old session is over.
    "broker.session.timeout.ms": "6000",
    "num.network.threads": "2",
    "num.io.threads": "4",
}


def format_properties(data: Path) -> str:
    """Returns the settings that Kafka's StorageTool needs to format a node."""
    return _render(
        {
            "process.roles": "broker,controller",
            "node.id": "1",
            "controller.quorum.voters": f"1@{HOST}:1",
            "controller.listener.names": CONTROLLER,
            "listeners": f"PLAINTEXT://{HOST}:2,{CONTROLLER}://{HOST}:1",
            "listener.security.protocol.map": f"PLAINTEXT:PLAINTEXT,{CONTROLLER}:PLAINTEXT",
            "log.dirs": str(data),
        }
    )


def meta_properties(node: Node, cluster_id: str) -> str:
    """Returns what StorageTool writes into the data folder of a node that it formats."""
    return _render(
        {
            "version": "1",
            "cluster.id": cluster_id,
            "node.id": str(node.id),
            "directory.id": new_id(),
        }
    )


def _render(properties: Mapping[str, str]) -> str:
    return "".join(f"{name}={value}\n" for name, value in properties.items())
