# SPDX-License-Identifier: Apache-2.0
"""What a person needs to connect: files that hold the passwords, and words that do not."""

import os
import sys
from pathlib import Path

from rich.console import Console

from dev.kafka.access import Credentials
from dev.kafka.cluster import KafkaCluster
from dev.kafka.node.settings import PROTOCOLS

PASSWORD_VARIABLE = "KAFKA_PASSWORD"  # noqa: S105 - the name of a variable, not its value


def write_client_files(cluster: KafkaCluster) -> None:
    """Write, for each user, Java client properties, password and certificate, mode 0600 all."""
    for user in cluster.users.values():
        write_private(cluster.folder / f"{user.username}.password", user.password)
        pair = cluster.client_pair(user.username)
        write_private(cluster.folder / f"{user.username}.pem", pair.private_key + pair.certificate)
        properties = client_properties(cluster, user)
        write_private(cluster.folder / f"{user.username}.properties", properties)


def client_properties(cluster: KafkaCluster, user: Credentials) -> str:
    """Render what Kafka's own command line tools take as `--command-config`."""
    login = "org.apache.kafka.common.security.scram.ScramLoginModule"
    return "\n".join(
        [
            f"bootstrap.servers={cluster.bootstrap()}",
            "security.protocol=SASL_SSL",
            "sasl.mechanism=SCRAM-SHA-512",
            f"sasl.jaas.config={login} required \\",
            f'    username="{user.username}" password="{user.password}";',
            "ssl.truststore.type=PEM",
            f"ssl.truststore.location={cluster.cafile}",
            "",
        ]
    )


def write_private(path: Path, text: str) -> None:
    """Write a file that nobody else could read at any moment."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)


def explain(cluster: KafkaCluster, console: Console) -> None:
    """Print how to connect, without any password."""
    lines = [f"Kafka is up, cluster id {cluster.cluster_id}.", ""]
    lines += [f"  {protocol:16}{cluster.bootstrap(protocol)}" for protocol in PROTOCOLS]
    lines += ["", f"  CA certificate  {cluster.cafile}"]
    for name in cluster.users:
        lines += ["", f"  user {name:11}{cluster.folder / f'{name}.properties'}"]
        lines += [f"  {'its password':16}{cluster.folder / f'{name}.password'}"]
        lines += [f"  {'its certificate':16}{cluster.folder / f'{name}.pem'}"]
    lines += ["", "To look at it from another terminal, in the project's folder:", ""]
    lines += [example(cluster), "", "Ctrl-C ends it."]
    console.print("\n".join(lines), markup=False, highlight=False, soft_wrap=True)


def example(cluster: KafkaCluster) -> str:
    """Return a command to paste; the shell reads the password from its file."""
    password = cluster.folder / "monitor.password"
    return (
        f'{PASSWORD_VARIABLE}="$(cat {password})" {sys.executable} -m kafka_lag_cli.command show'
        f" --bootstrap-servers {cluster.bootstrap()} --security-protocol SASL_SSL"
        " --sasl-mechanism SCRAM-SHA-512 --username monitor"
        f" --password-env {PASSWORD_VARIABLE} --cafile {cluster.cafile}"
        f" --state {cluster.folder / 'state'}"
    )
