# SPDX-License-Identifier: Apache-2.0
"""What each commit calls the few things that a probe needs of it: the names of today first.

After a rename add the new name before the old one; the old one stays for as long as a commit that
has it is compared with. A name of today is looked for under its old package where a checkout has
that layout, so that it need not be written twice.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

# Public boundaries first: handlers, command, configuration. Then what a replayed run is made of.
NAMES = {
    "serve": ("kafka_lag.serve_lag:handler",),
    "notify": ("kafka_lag.notify_status:handler",),
    "report": ("kafka_lag_report.daily_report:main",),
    "read_deployment": ("kafka_lag_cdk.config.reading:read",),
    "add_stacks": ("kafka_lag_cdk.stacks:stacks_of",),
    # Before, the function filled in a document itself: there is nothing to do to it.
    "normalised": ("kafka_lag_cdk.config.document:normalised", "builtins:dict"),
    "settings_of": ("kafka_lag.settings:settings_of",),
    "Collector": ("kafka_lag.collector:Collector",),
    "FolderStore": ("kafka_lag.snapshots.store:FolderStore",),
    "EmfSink": ("kafka_lag.sinks.emf:EmfSink",),
    "ConfiguredSink": (
        "kafka_lag.sinks.metric_sets:ConfiguredSink",
        "kafka_lag.sinks.outlets:Outlet",
    ),
    "ReporterError": ("kafka_lag.errors:ReporterError",),
    "SourceError": ("kafka_lag.errors:SourceError",),
    "ClusterReading": ("kafka_lag.lag.model:ClusterReading",),
    "Problem": ("kafka_lag.lag.model:Problem",),
    "Frame": ("kafka_lag.lag.frame:Frame",),
    "Column": ("kafka_lag.lag.columns:Column",),
    "Strings": ("kafka_lag.lag.columns:Strings", "kafka_lag.lag.columns:Words"),
    "LookupResults": (
        "kafka_lag.lag.time_index:LookupResults",
        "kafka_lag.lag.time_index:TimeAnswers",
        "kafka_lag.lag.time_index.questions:TimeAnswers",
    ),
}
# What the packages were called when each was a top-level folder of the checkout.
_FOLDERS = {"kafka_lag_cdk": "infra", "kafka_lag_report": "glue_jobs", "kafka_lag": "functions"}
_SOURCE_ROOTS = ("functions", "cli", "infra", "glue_jobs")


class LayoutError(Exception):
    """A checkout in which something cannot be found; the message says what to add here."""


def source_roots(checkout: Path) -> list[Path]:
    """What must be on the path, before all else, to import the checkout's packages."""
    if (checkout / "functions" / "__init__.py").exists():
        return [checkout]
    return [checkout / root for root in _SOURCE_ROOTS if (checkout / root).is_dir()]


@cache
def find(what: str) -> Any:
    """The commit's own object for one of NAMES. Raises LayoutError."""
    tried = list(_tried(what))
    for name in tried:
        module, _, attribute = name.partition(":")
        try:
            return getattr(importlib.import_module(module), attribute)
        except (ModuleNotFoundError, AttributeError) as error:
            # A module that is there and lacks one of its own imports is no other layout.
            missing = getattr(error, "name", None)
            if isinstance(error, ModuleNotFoundError) and not module.startswith(missing or "?"):
                raise
    raise LayoutError(
        f"this commit has none of {', '.join(tried)}: add what it calls {what} to "
        "dev/compare/probe/layout.py"
    )


def fresh(what: str) -> Any:
    """The same object of a module that is executed once more: nothing that it caches is shared."""
    found = find(what)
    spec = importlib.util.find_spec(found.__module__)
    if spec is None or spec.loader is None:
        raise LayoutError(f"{found.__module__} cannot be loaded once more")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, found.__name__)


def _tried(what: str) -> Iterator[str]:
    for name in NAMES[what]:
        yield name
        package, _, rest = name.partition(".")
        if package in _FOLDERS:
            yield f"{_FOLDERS[package]}.{rest}"
