# SPDX-License-Identifier: Apache-2.0
"""The cluster: starts it, controls single nodes, and always takes it down."""

import tempfile
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any, Self

from confluent_kafka.admin import AclBinding, AclBindingFilter, AdminClient

from dev.kafka.access import (
    client_config,
    create_acls,
    create_users,
    monitor_acls,
    new_users,
    wait_for,
)
from dev.kafka.jars import (
    KafkaServer,
    archive_of,
    kafka_server,
    kafka_version,
    reading,
    run_program,
    writing,
)
from dev.kafka.node import (
    Authority,
    BrokerProcess,
    ClientPair,
    Guard,
    KafkaClusterError,
    Node,
    Protocol,
    meta_properties,
    new_id,
    new_nodes,
    server_properties,
)
from dev.kafka.readiness import (
    brokers_seen,
    end_with_the_process,
    quiet_admin,
    wait_for_broker,
    wait_for_coordinators,
    wait_for_logins,
    wait_until,
)

# The first compiler alone and the plain collector: three JVMs start on two cores in less time.
QUICK_START = ("-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")


class KafkaCluster:
    """A context manager for brokers 1 to N, each in its own rack (az1, az2, ...).

    `folder` must be missing or empty and, like the temporary one made without it, is removed at
    the end unless a broker failed to start. `settings` are broker settings that win over the ones
    made here. `users` are `admin` (may do all) and `monitor` (may describe, and no
    more). `java_options` are null for the quickest start.
    """

    def __init__(
        self,
        *,
        brokers: int = 3,
        folder: Path | None = None,
        settings: Mapping[str, str] | None = None,
        java_options: Sequence[str] | None = None,
    ) -> None:
        self.cluster_id = new_id()
        self.users = new_users("admin", "monitor")
        self.folder = _empty_folder(folder)
        self.cafile = self.folder / "ca.pem"
        self._authority = Authority()
        self._settings = dict(settings or {})
        self._java_options = java_options
        self._nodes = new_nodes(brokers, self.folder)
        self._advertised: dict[int, dict[Protocol, str]] = {}
        self._processes: dict[int, BrokerProcess] = {}
        self._guard: Guard | None = None
        self._admin: AdminClient | None = None

    def __enter__(self) -> Self:
        try:
            self._start_all()
            self._admit_users()
        except BaseException as error:
            if self._guard is not None and isinstance(error, KafkaClusterError):
                self._guard.spare_folder()
            self.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def node_ids(self) -> tuple[int, ...]:
        """Returns the ids of all nodes, including nodes that do not run."""
        return tuple(node.id for node in self._nodes)

    def bootstrap(self, protocol: Protocol = "SASL_SSL") -> str:
        """Returns host:port,host:port of all nodes."""
        return ",".join(node.address(protocol) for node in self._nodes)

    def broker_address(self, node: int, protocol: Protocol = "SASL_SSL") -> str:
        """Returns host:port of one node."""
        return self._nodes[self.node_ids.index(node)].address(protocol)

    def advertise(self, node: int, protocol: Protocol, address: str) -> None:
        """Makes a node advertise another address, such as a proxy's. Call it before the start."""
        self._advertised.setdefault(node, {})[protocol] = address

    def client_config(self, user: str = "admin", protocol: Protocol = "SASL_SSL") -> dict[str, Any]:
        """Returns a confluent-kafka client's configuration, with secrets; PLAINTEXT has no user."""
        login = self.client_pair(user) if protocol == "SSL" else self.users[user]
        return client_config(self.bootstrap(protocol), protocol, login, self.cafile)

    def client_pair(self, user: str, until: datetime | None = None) -> ClientPair:
        """Issues a certificate with which the SSL listener takes a client for a user."""
        return self._authority.client(user, until)

    def admin(self) -> AdminClient:
        """Returns the one client with all rights, without login; its log is off."""
        if self._admin is None:
            self._admin = quiet_admin(self.client_config(protocol="PLAINTEXT"))
            end_with_the_process(self._admin)
        return self._admin

    def alive(self, node: int) -> bool:
        """Returns True if the node's process exists, even if it is paused."""
        return self._processes[node].alive

    def stop(self, node: int) -> None:
        """Shuts a node down; returns when its process is gone."""
        self._processes[node].stop()

    def kill(self, node: int) -> None:
        """Ends a node as a power cut does; returns when its process is gone."""
        self._processes[node].kill()

    def pause(self, node: int) -> None:
        """Pauses a node: it keeps its connections and answers nothing until `resume`."""
        self._processes[node].pause()

    def resume(self, node: int) -> None:
        """Lets a paused node go on; others may have removed it from the cluster meanwhile."""
        self._processes[node].resume()

    def start(self, node: int) -> None:
        """Starts a stopped node on its old ports; returns when all others see it."""
        process = self._processes[node]
        process.start()
        wait_for_broker(process, brokers=1)
        admin = self.admin()
        wait_until(lambda: node in brokers_seen(admin), what=f"node {node} seen by the others")

    def add_acl(self, *acls: AclBinding) -> None:
        """Stores bindings made by `dev.kafka.access.acl`; brokers follow in milliseconds."""
        create_acls(self.admin(), list(acls))

    def remove_acl(self, *acls: AclBinding) -> None:
        """Removes bindings, exactly as they were added."""
        wait_for(self.admin().delete_acls([_exactly(binding) for binding in acls]))

    def close(self) -> None:
        """Kills all nodes and removes the folder; a second call does nothing."""
        for process in self._processes.values():
            process.kill()
        if self._guard is not None:
            self._guard.close()
            self._guard = None

    def _start_all(self) -> None:
        self._guard = guard = Guard(remove=self.folder)
        server = kafka_server()
        java = quick_start(server) if self._java_options is None else self._java_options
        for node in self._nodes:
            self._write_node(node, server)
            process = BrokerProcess(node, class_path=server.class_path, java=java, guard=guard)
            self._processes[node.id] = process
        self._authority.write(self.cafile, [node.keystore for node in self._nodes])
        for process in self._processes.values():
            process.start()
        for process in self._processes.values():
            wait_for_broker(process, brokers=len(self._nodes))

    def _write_node(self, node: Node, server: KafkaServer) -> None:
        node.data.mkdir(parents=True)
        offered = self._advertised.get(node.id, {})
        text = server_properties(node, self._nodes, self._settings, offered)
        node.properties.write_text(text, encoding="utf-8")
        meta = meta_properties(node, self.cluster_id)
        (node.data / "meta.properties").write_text(meta, encoding="utf-8")
        server.copy_bootstrap(node.data)

    def _admit_users(self) -> None:
        # ACLs come first: brokers replay in this order, so a user who can log in has its
        # permissions.
        create_acls(self.admin(), monitor_acls())
        create_users(self.admin(), self.users)
        wait_for_coordinators(
            self.admin(), count=int(self._settings.get("offsets.topic.num.partitions", "6"))
        )
        wait_for_logins(
            [
                self.client_config(user) | {"bootstrap.servers": self.broker_address(node)}
                for node in self.node_ids
                for user in self.users
            ]
        )


@cache
def quick_start(server: KafkaServer) -> tuple[str, ...]:
    """Returns Java's options for brokers and tools that live for seconds or minutes."""
    archive = archive_of(server, _leave_classes)
    return QUICK_START if archive is None else (*QUICK_START, *reading(archive))


def run_group_tool(cluster: KafkaCluster, *arguments: str) -> str:
    """Returns the output of kafka-consumer-groups. Raises KafkaClusterError if it fails."""
    server = kafka_server()
    # The tool had another place before it was written in Java (KAFKA-14589).
    package = "kafka.admin" if kafka_version() < (3, 8) else "org.apache.kafka.tools.consumer.group"
    command = ["java", *quick_start(server), "-cp", server.class_path]
    command += [f"{package}.ConsumerGroupCommand", "--bootstrap-server"]
    command += [cluster.bootstrap("PLAINTEXT"), *arguments]
    return run_program(command, what="run kafka-consumer-groups")


def _leave_classes(archive: Path) -> None:
    with KafkaCluster(brokers=1, java_options=(*QUICK_START, *writing(archive))) as cluster:
        cluster.stop(1)


def _empty_folder(folder: Path | None) -> Path:
    if folder is None:
        return Path(tempfile.mkdtemp(prefix="kafka-cluster-"))
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        raise KafkaClusterError(f"The folder {folder} is not empty")
    return folder.resolve()


def _exactly(binding: AclBinding) -> AclBindingFilter:
    return AclBindingFilter(
        binding.restype,
        binding.name,
        binding.resource_pattern_type,
        binding.principal,
        binding.host,
        binding.operation,
        binding.permission_type,
    )
