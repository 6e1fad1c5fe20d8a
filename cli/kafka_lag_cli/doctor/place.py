# SPDX-License-Identifier: Apache-2.0
"""The place of a cluster's collector: its AWS clients, and shell lines for it."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from kafka_lag_cli.account.errors import AwsError, using
from kafka_lag_config.cluster import Cluster
from kafka_lag_config.deployment import Deployment

_DEFAULT_PROFILE = "default"
_ABSENT = "ValidationError"


@dataclass(frozen=True)
class Place:
    """A cluster of a deployment, and a boto3 session of whoever looks."""

    deployment: Deployment
    cluster: Cluster
    session: Any
    _clients: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)

    @property
    def account(self) -> str | None:
        """The account that the configuration says, None for whichever deploys."""
        return self.deployment.place_of(self.cluster)[0]

    @property
    def region(self) -> str:
        """The collector's region."""
        return self.deployment.place_of(self.cluster)[1]

    @property
    def stack(self) -> str:
        """The name of the cluster's stack."""
        return self.deployment.stack_name(self.cluster)

    def client(self, service: str, region: str | None = None, **options: Any) -> Any:
        """A client there, the same again unless there are options; connects to nothing yet.

        With a `region` a client of that one.
        """
        if region not in (None, self.region):
            return self.session.client(service, region_name=region, **options)
        if options:
            return self.session.client(service, region_name=self.region, **options)
        if service not in self._clients:
            self._clients[service] = self.session.client(service, region_name=self.region)
        return self._clients[service]

    def describe_stack(self, name: str, region: str | None = None) -> dict[str, Any] | None:
        """Returns a stack as CloudFormation has it; null if it is absent. Raises AwsError."""
        try:
            with using("cloudformation:DescribeStacks"):
                client = self.client("cloudformation", region)
                (found,) = client.describe_stacks(StackName=name)["Stacks"]
        except AwsError as error:
            if error.code == _ABSENT:
                return None
            raise
        return dict(found)

    def profile_option(self) -> str:
        """` --profile P` where the session has one."""
        profile = self.session.profile_name
        return f" --profile {shlex.quote(profile)}" if profile != _DEFAULT_PROFILE else ""

    def aws(self, command: str, **options: Any) -> str:
        """A line of the AWS command line: objects as JSON, lists with blanks, True as a switch."""
        words = ["aws", *command.split()]
        for name, value in options.items():
            words.append("--" + name.replace("_", "-"))
            words += _words(value)
        return f"{shlex.join(words)} --region {self.region}{self.profile_option()}"


def _words(value: Any) -> Sequence[str]:
    if value is True:
        return []
    if isinstance(value, dict):
        return [json.dumps(value, separators=(",", ":"))]
    return [str(value)] if not isinstance(value, list | tuple) else [str(each) for each in value]


def key_line(key: str, value: Any) -> str:
    """A key of the cluster in a configuration, as TOML writes it."""
    # Of these types JSON and TOML write the same.
    return f"{key} = {json.dumps(value)}"
