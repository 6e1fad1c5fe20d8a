# SPDX-License-Identifier: Apache-2.0
"""The app that `cdk` runs: it reads and checks the configuration, then makes the stacks."""

from __future__ import annotations

import sys
from pathlib import Path

from aws_cdk import App, Validations
from cdk_nag import AwsSolutionsChecks

from kafka_lag_cdk.packaging import PackagingError
from kafka_lag_cdk.stacks import stacks_of
from kafka_lag_config.faults import ConfigurationError
from kafka_lag_config.reading import CONTEXT_KEY, read

# With `-c nag=true` the AwsSolutions rules are held against every stack.
_NAG = "nag"


def main(package: Path | None = None) -> int:
    """Synthesises; 1, and what to do on stderr, where configuration or packing is at fault.

    Functions are packed as the configuration says, unless a `package` is there.
    """
    app = App()
    try:
        stacks_of(app, read(app.node.try_get_context(CONTEXT_KEY), Path.cwd()), package)
    except (ConfigurationError, PackagingError) as error:
        print(error, file=sys.stderr)
        return 1
    # What the command line says is text.
    if app.node.try_get_context(_NAG) in (True, "true"):
        Validations.of(app).add_plugins(AwsSolutionsChecks(app))
    app.synth()
    return 0


if __name__ == "__main__":
    sys.exit(main())
