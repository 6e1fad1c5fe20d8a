# SPDX-License-Identifier: Apache-2.0
"""The templates of the examples, of each option and of apps with objects of their own.

`tests/golden/templates` holds them; for a stack like an earlier one it holds only the differences.
"""

from __future__ import annotations

import json
import runpy
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from aws_cdk import App

from kafka_lag_cdk.stacks import stacks_of
from tests.golden import Golden
from tests.infra.code import SMALL_PACKAGE
from tests.infra.conftest import ROOT, Options, Synthesised, flags, lint
from tests.infra.objects import BUILDS
from tests.infra.options import deployments
from tests.infra.own_app.network import Theirs
from tests.infra.resolve import ACCOUNT, REGION
from tests.infra.templates import Given, Rendering, stacks_in

# In this order a template is told by what differs from one before it.
EXAMPLES = ("one-scram-cluster", "scaling-ecs", "twenty-clusters")
FILES = (*EXAMPLES, "own-app", "options-of-clusters", "options-of-shared", "objects")
# What an app brings itself, and what CDK makes for it.
OF_APPS = (
    *("Vpc", "KafkaVpc", "KafkaCluster", "KafkaLogin", "Billing", "BucketNotif", "DataNotif"),
    *("Msk", "Serverless", "Host", "Ecs", "Task", "Service", "Custom", "Doubted"),
)


@pytest.fixture(name="folders", scope="module")
def _folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Where is synthesised what each file is about."""
    return {name: tmp_path_factory.mktemp(name) for name in FILES}


@pytest.fixture(name="rendered", scope="module")
def _rendered(
    examples: dict[str, Synthesised], options: Options, folders: dict[str, Path]
) -> dict[str, str]:
    rendering = Rendering()
    given = {name: stacks_in(examples[name].folder, name) for name in EXAMPLES} | {
        "own-app": list(own_app(folders["own-app"])),
        "options-of-clusters": stacks_in(options.folder, "all", options.titles),
        "options-of-shared": list(options_of_shared(folders["options-of-shared"])),
        "objects": list(objects(folders["objects"])),
    }
    return {name: rendering.render(stacks) for name, stacks in given.items()}


def own_app(folder: Path) -> Iterator[Given]:
    """The example of an app: each construct of ours in its one stack, and what it brings."""
    app = App(outdir=str(folder))
    runpy.run_path(str(ROOT / "examples" / "own_app.py"))["build"](app, SMALL_PACKAGE)
    app.synth()
    (whole,) = stacks_in(folder, "own_app")
    own = ("LagCollector", "Audit", "LagReports", "Data")
    yield collector_in(whole, "orders", "LagCollector", {"OrdersAlarms": "AlarmTopic"})
    yield collector_in(whole, "audit", "Audit", {"Alarms": "AlarmTopic"})
    yield replace(whole, kind="shared", begins=("LagReports", "Reports"), said=())
    yield replace(whole, kind="app", without=(*own, *OF_APPS), said=())


def collector_in(whole: Given, cluster: str, begin: str, general: dict[str, str]) -> Given:
    """A collector among other resources of a stack, as the stack of a cluster has it."""
    known = {
        cluster: "<cluster>",
        f"kafka-lag-{cluster}": "<stack>",
        f"arn:aws:sns:{REGION}:{ACCOUNT}:t": "${AlarmTopic}",
    }
    return replace(
        whole,
        title=f"{whole.title}: {cluster}",
        kind="cluster",
        said=() if cluster == "audit" else whole.said,
        general={**whole.general, **known, **general},
        begins=(begin, "Lag"),
    )


def options_of_shared(folder: Path) -> Iterator[Given]:
    for number, (name, given) in enumerate(deployments().items()):
        app = App(context=flags(), outdir=str(folder / str(number)))
        stacks_of(app, given, SMALL_PACKAGE)
        app.synth()
        yield from stacks_in(folder / str(number), name)


def objects(folder: Path) -> Iterator[Given]:
    """Apps with objects of their own: ours in the stack of each, and what is added to theirs."""
    app = App(context=flags(), outdir=str(folder))
    titles: dict[str, str] = {}
    for name, build in BUILDS.items():
        build(theirs := Theirs(app, f"App-{len(titles)}"))
        titles[theirs.stack_name] = name
    app.synth()
    for whole in stacks_in(folder, "watched in another stack", titles):
        if whole.title.startswith("reports"):
            yield replace(whole, kind="shared", begins=("Lag", "Reports"))
        else:
            yield collector_in(whole, "orders", "Lag", {})
        yield replace(whole, kind="app", without=("Lag", *OF_APPS), said=())


@pytest.mark.parametrize("name", FILES)
def test_the_templates_are_those_that_were_reviewed(
    name: str, rendered: dict[str, str], golden: Golden
) -> None:
    golden.holds(f"templates/{name}.txt", rendered[name])


@pytest.mark.usefixtures("rendered")
def test_nothing_is_looked_up_in_aws_for_the_example_of_an_app(folders: dict[str, Path]) -> None:
    """Which would take credentials."""
    manifest = json.loads((folders["own-app"] / "manifest.json").read_text())
    assert manifest.get("missing", []) == []


@pytest.mark.thorough
@pytest.mark.usefixtures("rendered")
def test_cfn_lint_finds_no_error_in_the_example_of_an_app(folders: dict[str, Path]) -> None:
    assert lint(folders["own-app"] / "Watched.template.json") == ""
