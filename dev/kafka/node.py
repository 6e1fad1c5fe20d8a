# SPDX-License-Identifier: Apache-2.0
"""One Kafka node: its settings, its certificate, its process, and the guard that ends it.

The guard is a small process that ends the brokers and removes their folder when its parent is gone.
It holds the read end of a pipe, and only the parent has the write end. The kernel closes the pipe
however the parent ends, even by SIGKILL, on Linux and macOS alike.
"""

import base64
import os
import signal
import socket
import subprocess
import time
import uuid
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from itertools import cycle, islice
from pathlib import Path
from types import MappingProxyType
from typing import Literal, get_args

import trustme
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)

Protocol = Literal["SASL_SSL", "SASL_PLAINTEXT", "SSL", "PLAINTEXT"]
PROTOCOLS: tuple[Protocol, ...] = get_args(Protocol)
CONTROLLER = "CONTROLLER"
HOST = "127.0.0.1"
MECHANISMS = ("SCRAM-SHA-512", "SCRAM-SHA-256")
TOKENS = "OAUTHBEARER"

# Under the range from which systems (Linux from 32768, macOS from 49152) give outgoing
# connections their port: else a client may hold the port of a broker that is about to restart.
_PORTS = range(20_000, 32_000)
# Processes that begin one after another have a thousand ports each, and none is given twice: a port
# that nobody listens on may belong to a cluster that is starting.
_FIRST = os.getpid() % 12 * 1_000
_next_port = cycle([*_PORTS[_FIRST:], *_PORTS[:_FIRST]])
_KAFKA = "org.apache.kafka.common.security"
_SCRAM_LOGIN = f"{_KAFKA}.scram.ScramLoginModule required;"
_TOKEN_LOGIN = f"{_KAFKA}.oauthbearer.OAuthBearerLoginModule required;"
# Takes tokens that nobody signed, for any name: fit for a cluster that only this machine reaches.
_TOKEN_CHECK = (
    f"{_KAFKA}.oauthbearer.internals.unsecured.OAuthBearerUnsecuredValidatorCallbackHandler"
)


class KafkaClusterError(Exception):
    """The cluster cannot do a request; the message is a sentence for a person."""


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
    """Returns ports that can be bound on the loopback address, others in each call."""
    return list(islice(filter(_is_free, _next_port), count))


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


# A cluster's folder holds a few files a partition: thousands of them, on a slow disk.
_REMOVED_WITHIN = 65.0
# Lines are `+ PID` and `- PID` for processes to end, and `=` to keep the folder.
_SCRIPT = """\
trap '' INT TERM HUP
pids=' ' kept=
while read -r word pid; do
  case $word in
    +) pids="$pids$pid " ;;
    -) pids="${pids%% $pid *} ${pids#* $pid }" ;;
    =) kept=1 ;;
  esac
done
for pid in $pids; do kill -9 "$pid" 2>/dev/null; done
for pid in $pids; do
  for look in $(seq 100); do kill -0 "$pid" 2>/dev/null && sleep 0.05; done
done
[ -n "$kept" ] || rm -rf "$1"
"""


class Guard:
    """The parent's end of the pipe: names the processes to end; closing it, or dying, ends them."""

    def __init__(self, *, remove: Path) -> None:
        self._process = subprocess.Popen(
            ["/bin/sh", "-c", _SCRIPT, "guard", str(remove.resolve())],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            # Its own session: Ctrl-C in the terminal is meant for the parent alone.
            start_new_session=True,
            bufsize=0,
        )

    def watch(self, pid: int) -> None:
        """Adds a process that must end when the parent is gone."""
        self._write(f"+ {pid}\n")

    def forget(self, pid: int) -> None:
        """Stops watching this process id, because the system may give it to another process."""
        self._write(f"- {pid}\n")

    def spare_folder(self) -> None:
        """Keeps the folder, because somebody will want to read its logs."""
        self._write("=\n")

    def close(self) -> None:
        """Lets the guard end all processes, and waits until it has done so."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        self._process.wait(timeout=_REMOVED_WITHIN)

    def _write(self, line: str) -> None:
        # One write under PIPE_BUF bytes arrives whole, from whichever thread it comes.
        if self._process.stdin is not None:
            with suppress(BrokenPipeError):
                os.write(self._process.stdin.fileno(), line.encode())


# Far more than a broker takes, on a busy machine as well: only one that hangs is killed.
STOPS_WITHIN = 120.0
_STANDS_WITHIN, _LOOKS_EVERY = 5.0, 0.005


class BrokerProcess:
    """The process of one node, which may run or not; the guard knows every started process."""

    def __init__(self, node: Node, *, class_path: str, java: Sequence[str], guard: Guard) -> None:
        self.node = node
        self._command = ["java", *java, "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn"]
        self._command += ["-cp", class_path, "kafka.Kafka", str(node.properties)]
        self._guard = guard
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Starts the process, which is ready some seconds later; its log is continued."""
        if self.alive:
            raise KafkaClusterError(f"Node {self.node.id} runs already")
        with self.node.log.open("ab") as log:
            self._process = subprocess.Popen(
                self._command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                # Its own session: Ctrl-C must not take brokers down in the middle of a run.
                start_new_session=True,
                cwd=self.node.folder,
            )
        self._guard.watch(self._process.pid)

    @property
    def alive(self) -> bool:
        """Returns whether the process exists; a paused one does."""
        return self._process is not None and self._process.poll() is None

    @property
    def pid(self) -> int | None:
        """Returns the id of the process; null if it does not run."""
        return self._process.pid if self._process is not None and self.alive else None

    def raise_if_dead(self) -> None:
        """Raises an error with the node's last output and its log's place, unless it runs."""
        if self.alive:
            return
        words = self.node.log.read_text(encoding="utf-8", errors="replace").splitlines()[-20:]
        text = "\n".join(words) or "(it said nothing)"
        raise KafkaClusterError(f"Node {self.node.id} died. Its log, {self.node.log}:\n{text}")

    def stop(self) -> None:
        """Asks the process to end (SIGTERM), kills it if it does not, and waits for its end."""
        # SIGCONT is sent as well, because a paused process gets the SIGTERM only when it goes on.
        self._end(signal.SIGTERM, signal.SIGCONT)

    def kill(self) -> None:
        """Ends the process at once (SIGKILL), paused or not, and waits until it is gone."""
        self._end(signal.SIGKILL)

    def pause(self) -> None:
        """Freezes the process (SIGSTOP): its connections stay open and nothing answers.

        Returns once all threads have stopped, because on a busy machine they run on for a while.
        """
        self._signal(signal.SIGSTOP)
        deadline = time.monotonic() + _STANDS_WITHIN
        while not self._stands_still() and time.monotonic() < deadline:
            time.sleep(_LOOKS_EVERY)

    def resume(self) -> None:
        """Lets a paused process go on (SIGCONT)."""
        self._signal(signal.SIGCONT)

    def _signal(self, number: signal.Signals) -> None:
        if self.pid is None:
            raise KafkaClusterError(f"Node {self.node.id} does not run")
        os.kill(self.pid, number)

    def _stands_still(self) -> bool:
        """Returns whether all threads have stopped since the last call, or the process is gone."""
        if self._process is None or not self.alive:
            return True
        pid, _ = os.waitpid(self._process.pid, os.WUNTRACED | os.WNOHANG)
        return pid != 0

    def _end(self, *signals: signal.Signals) -> None:
        process = self._process
        if process is None:
            return
        for number in signals:
            process.send_signal(number)
        try:
            process.wait(STOPS_WITHIN)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        self._guard.forget(process.pid)
        self._process = None
