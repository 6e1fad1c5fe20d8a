# SPDX-License-Identifier: Apache-2.0
"""The stacks of each deployment, synthesised in process with a package that is nobody's."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from aws_cdk import App

from dev.compare.orders import TEMPLATES, Orders, Step
from dev.compare.probe.layout import find

_CONTEXT_KEY = "msk-lag-reporter"


def templates(orders: Orders) -> Iterator[Step]:
    """A step a deployment, of which each stack is a part by the name CloudFormation knows it by."""
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
            yield Step(path.stem, parts_of(app.synth().stacks))


def parts_of(stacks: Iterable[Any]) -> dict[str, bytes]:
    """Each stack's template."""
    return {
        f"{TEMPLATES}/{stack.stack_name}@{stack.environment.region}": json.dumps(
            stack.template, sort_keys=True
        ).encode()
        for stack in stacks
    }
