# SPDX-License-Identifier: Apache-2.0
"""Every example and option, synthesised once; examples with cdk-nag's AwsSolutions.

The fixture imports CDK, which starts a Node, because most tests of `config` do without it.
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from kafka_lag_config.cluster import Cluster
    from kafka_lag_config.deployment import Deployment

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted(path.stem for path in (ROOT / "examples").glob("*.json"))

# Our own warning that an account is the examples'.
_OF_EXAMPLES = "msk-lag-reporter:example"
# What a plugin writes beside the templates.
_REPORT = "validation-report.json"
# The twenty clusters are much alike: these differ by more than their names. cdk-nag looks at each
# for seconds, so one does.
_DIFFERENT = ("audit-eu", "audit-us", "fraud-eu", "payments-us")
_NAGGED = ("payments-us",)


@dataclass(frozen=True, slots=True)
class Synthesised:
    """Templates by stack name, where they lie, and what was found against them."""

    folder: Path
    nagged: Path
    templates: dict[str, dict[str, Any]]
    files: dict[str, Path]

    def findings(self) -> list[str]:
        """Each rule that something breaks unexplained, and where first."""
        report = json.loads((self.nagged / _REPORT).read_text())
        return [
            f"{found['ruleName']} at {found['violatingConstructs'][0]['constructPath']}"
            for plugin in report["pluginReports"]
            for found in plugin.get("violations", [])
            if _OF_EXAMPLES not in found["ruleName"]
        ]


@pytest.fixture(name="examples", scope="session")
def _examples(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Synthesised]:
    return {name: _synthesised(name, tmp_path_factory.mktemp(name)) for name in EXAMPLES}


@dataclass(frozen=True, slots=True)
class Options:
    """A deployment with a cluster for each option of clusters, where it was synthesised."""

    folder: Path
    deployment: Deployment
    # The option that a stack is about, by the stack's name.
    titles: dict[str, str]

    def resources(self, cluster: Cluster) -> dict[str, dict[str, Any]]:
        """Those of a cluster's stack by logical id, every reference answered."""
        from tests.infra.resolve import resolve

        name = self.deployment.stack_name(cluster)
        return resolve(json.loads((self.folder / f"{name}.template.json").read_text()))


@pytest.fixture(name="options", scope="session")
def _options(tmp_path_factory: pytest.TempPathFactory) -> Options:
    from aws_cdk import App

    from kafka_lag_cdk.stacks import stacks_of
    from tests.infra.code import SMALL_PACKAGE
    from tests.infra.options import clusters

    folder = tmp_path_factory.mktemp("options")
    names, whole = clusters()
    app = App(context=flags(), outdir=str(folder))
    stacks_of(app, whole, SMALL_PACKAGE)
    app.synth()
    stacks = (whole.stack_name(each) for each in whole.clusters)
    return Options(folder, whole, dict(zip(stacks, names, strict=True)))


def lint(*templates: Path, ignored: str = "none") -> str:
    """What cfn-lint says of templates where it finds an error."""
    program = str(Path(sys.executable).with_name("cfn-lint"))
    options = ["--ignore-checks", ignored, "--non-zero-exit-code", "error"]
    command = [program, *options, "--", *map(str, templates)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    return done.stdout if done.returncode else ""


def flags() -> dict[str, Any]:
    """CDK's feature flags, by which a clone's stacks are made."""
    from kafka_lag_config.reading import CONTEXT_KEY

    context: dict[str, Any] = json.loads((ROOT / "cdk.json").read_text())["context"]
    del context[CONTEXT_KEY]
    return context


def _synthesised(name: str, folder: Path) -> Synthesised:
    from aws_cdk import App, Validations
    from cdk_nag import AwsSolutionsChecks

    from kafka_lag_cdk.stacks import stacks_of
    from kafka_lag_config.reading import read
    from tests.infra.code import SMALL_PACKAGE

    whole = read(f"examples/{name}.json", ROOT)
    app = nagged = App(context=flags(), outdir=str(folder))
    if len(whole.clusters) == 1:
        stacks_of(app, whole, SMALL_PACKAGE)
    else:
        nagged = App(context=flags(), outdir=str(folder / "nagged"))
        for one, names in ((app, _DIFFERENT), (nagged, _NAGGED)):
            some = tuple(each for each in whole.clusters if each.name in names)
            stacks_of(one, whole.model_copy(update={"clusters": some}), SMALL_PACKAGE)
    Validations.of(nagged).add_plugins(AwsSolutionsChecks(nagged))
    nagged.synth()
    files = {
        f"{stack.stack_name}@{stack.environment.region}": Path(stack.template_full_path)
        for stack in app.synth().stacks
    }
    templates = {stack: json.loads(file.read_text()) for stack, file in files.items()}
    return Synthesised(folder, Path(nagged.outdir), templates, files)
