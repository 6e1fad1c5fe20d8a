# SPDX-License-Identifier: Apache-2.0
"""Every example, synthesised once as `cdk synth` does it, cdk-nag's AwsSolutions included.

CDK, which starts a Node, is imported by the fixture: most tests of `config` do without.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted(path.stem for path in (ROOT / "examples").glob("*.json"))

# What a plugin writes beside the templates.
_REPORT = "validation-report.json"


@dataclass(frozen=True, slots=True)
class Synthesised:
    """Templates by stack name, where they lie, and what was found against them."""

    folder: Path
    templates: dict[str, dict[str, Any]]
    files: dict[str, Path]

    def findings(self) -> list[str]:
        """Each rule that something breaks unexplained, and where first."""
        report = json.loads((self.folder / _REPORT).read_text())
        return [
            f"{found['ruleName']} at {found['violatingConstructs'][0]['constructPath']}"
            for plugin in report["pluginReports"]
            for found in plugin.get("violations", [])
        ]


@pytest.fixture(name="examples", scope="session")
def _examples(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Synthesised]:
    return {name: _synthesised(name, tmp_path_factory.mktemp(name)) for name in EXAMPLES}


def _synthesised(name: str, folder: Path) -> Synthesised:
    from aws_cdk import App, Validations
    from cdk_nag import AwsSolutionsChecks

    from kafka_lag_cdk.config.reading import CONTEXT_KEY, read
    from kafka_lag_cdk.stacks import stacks_of
    from tests.infra.code import SMALL_PACKAGE

    context = json.loads((ROOT / "cdk.json").read_text())["context"]
    del context[CONTEXT_KEY]
    app = App(context=context, outdir=str(folder))
    stacks_of(app, read(f"examples/{name}.json", ROOT), SMALL_PACKAGE)
    Validations.of(app).add_plugins(AwsSolutionsChecks(app))
    stacks = app.synth().stacks
    return Synthesised(
        folder,
        {f"{stack.stack_name}@{stack.environment.region}": stack.template for stack in stacks},
        {
            f"{stack.stack_name}@{stack.environment.region}": Path(stack.template_full_path)
            for stack in stacks
        },
    )
