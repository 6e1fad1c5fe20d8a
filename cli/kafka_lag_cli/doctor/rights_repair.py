# SPDX-License-Identifier: Apache-2.0
"""The line that gives a login a right or a quota on a cluster, or takes back an ACL that denies it
a right.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from kafka_lag.brokers.access import CLIENT_ID, IAM, Access, Credentials, Login
from kafka_lag.brokers.throttling import QUOTA
from kafka_lag_cli.doctor.acls import ANY_HOST, Acl, Resource

ANONYMOUS = "User:ANONYMOUS"
# In percent of a thread's time; a run needs some tenths of a second a minute.
_ONE_THREAD = 100
# The file with the login of somebody who may change ACLs, as the documentation calls it.
_ADMIN = "--command-config admin.properties"
_PREFIXED = "--resource-pattern-type prefixed"
# What Java takes off the ends of the names that kafka-acls is given.
_TRIMMED = "".join(map(chr, range(33)))
_FLAGS: dict[Resource, str] = {"cluster": "--cluster", "topic": "--topic", "group": "--group"}

# b-1.orders.a1b2c3.c4.kafka.eu-west-1.amazonaws.com, boot-a1b2.c1.kafka-serverless.us-east-1...
_MSK = re.compile(
    r"^(?:[^.]+\.(?P<name>[^.]+)\.[^.]+\.c\d+\.kafka|.*\.kafka-serverless)\.(?P<region>[a-z0-9-]+)\.amazonaws"
)
_ACTIONS: dict[tuple[Resource, str], str] = {
    ("cluster", "Describe"): "kafka-cluster:DescribeCluster",
    ("topic", "Describe"): "kafka-cluster:DescribeTopic",
    ("topic", "DescribeConfigs"): "kafka-cluster:DescribeTopicDynamicConfiguration",
    ("group", "Describe"): "kafka-cluster:DescribeGroup",
}


@dataclass(frozen=True, slots=True)
class RightsRepair:
    """Lines for one login; `principal` is None where AWS IAM decides in place of ACLs, and empty
    where a certificate's subject, or what brokers make of it, is the principal.

    `shown` is the principal as a word of a shell, which may work it out.
    """

    access: Access
    principal: str | None
    shown: str

    def allow(
        self,
        operations: Sequence[str],
        resource: Resource,
        names: Sequence[str],
        *,
        prefixed: bool = False,
    ) -> str:
        """Gives these rights on resources of one kind; the name `*` is all of them."""
        if self.principal is None:
            return self._statement(operations, resource, names)
        words = [f"--add --allow-principal {self.shown}"]
        words += [f"--operation {operation}" for operation in operations]
        if resource == "cluster":
            words.append(_FLAGS[resource])
        else:
            words += [f"{_FLAGS[resource]} {shell_word(name)}" for name in names]
        if prefixed:
            words.append(_PREFIXED)
        return self._kafka_acls(words)

    def remove(self, acl: Acl) -> str:
        """Takes back exactly this ACL, which denies something, without a question."""
        words = [f"--remove --force --deny-principal {shell_word(acl.principal)}"]
        if acl.host != ANY_HOST:
            words.append(f"--deny-host {shell_word(acl.host)}")
        words.append(f"--operation {acl.operation}")
        resource = acl.resource or "cluster"
        flag = _FLAGS[resource]
        words.append(flag if resource == "cluster" else f"{flag} {shell_word(acl.name)}")
        if acl.prefixed:
            words.append(_PREFIXED)
        return self._kafka_acls(words)

    def allow_requests(self) -> str | None:
        """Gives this user and our client id a quota of their own, which wins over every other.

        Null where the user is not known.
        """
        if not self.principal:
            return None
        user = shell_word(self.principal.removeprefix("User:"))
        words = [
            *("--alter", f"--add-config {QUOTA}={_ONE_THREAD}"),
            *("--entity-type users --entity-name", user),
            *("--entity-type clients --entity-name", CLIENT_ID),
        ]
        return self._kafka_tool("kafka-configs.sh", words)

    def _kafka_acls(self, words: Sequence[str]) -> str:
        return self._kafka_tool("kafka-acls.sh", words)

    def _kafka_tool(self, tool: str, words: Sequence[str]) -> str:
        servers = shell_word(",".join(self.access.bootstrap_servers))
        admin = [] if self.access.security_protocol == "PLAINTEXT" else [_ADMIN]
        return " ".join([tool, "--bootstrap-server", servers, *admin, *words])

    def _statement(
        self, operations: Sequence[str], resource: Resource, names: Sequence[str]
    ) -> str:
        found = next(filter(None, map(_MSK.match, self.access.bootstrap_servers)), None)
        region, cluster = (found["region"], found["name"] or "*") if found else ("*", "*")
        arn = f"arn:aws:kafka:{region}:*:{resource}/{cluster}/*"
        resources = [arn] if resource == "cluster" else [f"{arn}/{name}" for name in names]
        return json.dumps(
            {
                "Effect": "Allow",
                "Action": [_ACTIONS[resource, operation] for operation in operations],
                "Resource": resources,
            }
        )


def rights_repair(access: Access, login: Login | None, certfile: str | None) -> RightsRepair:
    """The lines for the login that brokers accepted, or would.

    `certfile` is where the client's certificate is, None where no file of ours holds it.
    """
    if access.sasl_mechanism == IAM and access.logs_in:
        return RightsRepair(access, None, "")
    if isinstance(login, Credentials):
        principal = f"User:{login.username}"
        return RightsRepair(access, principal, shell_word(principal))
    if access.security_protocol != "SSL" or login is None:
        return RightsRepair(access, ANONYMOUS, ANONYMOUS)
    if certfile is None:
        return RightsRepair(access, "", "User:SUBJECT-OF-THE-CERTIFICATE")
    subject = (
        f"openssl x509 -noout -subject -nameopt RFC2253 -in {shell_word(certfile)} "
        "| sed 's/^subject=//'"
    )
    return RightsRepair(access, "", f'"User:$({subject})"')


def can_be_named(name: str) -> bool:
    """Return true if kafka-acls, which strips blanks, takes this name as it is."""
    return bool(name) and name == name.strip(_TRIMMED)


def shell_word(name: str) -> str:
    """A name as one word of a shell, which shows nothing that does not print."""
    if name.isprintable():
        return shlex.quote(name)
    letters = (
        each if each.isprintable() and each not in "\\'" else _escaped(each) for each in name
    )
    return f"$'{''.join(letters)}'"


def _escaped(letter: str) -> str:
    return "".join(f"\\x{byte:02x}" for byte in letter.encode("utf-8", "surrogateescape"))
