# SPDX-License-Identifier: Apache-2.0
"""The stacks of each deployment, synthesised in process with a package that is nobody's."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path

from aws_cdk import App

from dev.compare.orders import Orders
from dev.compare.probe.layout import find
from dev.compare.steps import TEMPLATES, Step

_CONTEXT_KEY = "msk-lag-reporter"


def templates(orders: Orders) -> Iterator[Step]:
    """A template a stack, by the names that CloudFormation knows them by."""
    context = json.loads(Path(orders.context).read_text())["context"]
    context.pop(_CONTEXT_KEY, None)
    for example in orders.examples:
        path = Path(example)
        with tempfile.TemporaryDirectory() as place:
            package = Path(place, "package")
            package.mkdir()
            (package / "code.py").write_text("# Whatever a function holds.\n")
            app = App(context=context, outdir=str(Path(place, "out")))
            find("add_stacks")(app, find("read_deployment")(path.name, path.parent), package)
            for stack in app.synth().stacks:
                name = f"{path.stem}: {stack.stack_name}@{stack.environment.region}"
                data = json.dumps(stack.template, sort_keys=True).encode()
                yield Step(name, {TEMPLATES: data})
