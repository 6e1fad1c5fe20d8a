# SPDX-License-Identifier: Apache-2.0
"""Rehearse the deployment: the real CDK command line, an AWS emulator and a real Kafka.

Bootstraps, deploys, runs the deployed functions, tries calls outside their rights, changes the
configuration, removes a cluster and destroys the rest, and checks after each step what is there.
"""

from __future__ import annotations

import argparse
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path

from rich.console import Console

from dev.kafka import KafkaCluster, KafkaClusterError
from dev.rehearse import backlog, checks
from dev.rehearse.account import SHARED_STACK
from dev.rehearse.command_line import install
from dev.rehearse.emulator import Emulator
from dev.rehearse.errors import RehearsalError
from dev.rehearse.outside import attempt_inside, attempt_outside
from dev.rehearse.rehearsal import Rehearsal

_OK, _FAULTY, _FAILED = 0, 1, 2

Step = Callable[[Rehearsal], list[str]]


def main(argv: Sequence[str] | None = None) -> int:
    """0 when all went as it should; 1 with the faults; 2 when it could not go on."""
    options = _options(argv)
    console = Console(highlight=False, markup=False, soft_wrap=True)
    for ending in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(ending, signal.default_int_handler)
    folder = Path(tempfile.mkdtemp(prefix="msk-lag-rehearsal-"))
    try:
        return _rehearse(folder, console)
    except KeyboardInterrupt:
        console.print("Interrupted; everything is stopped.")
        return _FAILED
    except (RehearsalError, KafkaClusterError) as error:
        console.print(str(error), style="red")
        return _FAILED
    finally:
        if options.keep:
            console.print(f"Logs, templates and configuration are in {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)


def _options(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m dev.rehearse", description=__doc__)
    parser.add_argument(
        "--keep", action="store_true", help="leave logs, templates and configuration in place"
    )
    return parser.parse_args(argv)


def _rehearse(folder: Path, console: Console) -> int:
    began, faults = time.monotonic(), 0
    with ExitStack() as stack:
        start = time.monotonic()
        install()
        cluster = stack.enter_context(KafkaCluster(brokers=1))
        emulator = stack.enter_context(Emulator(folder, cluster.bootstrap("PLAINTEXT")))
        backlog.leave_backlog(cluster)
        rehearsal = Rehearsal(emulator, cluster, folder)
        console.print(f"{time.monotonic() - start:6.1f} s  an emulator of AWS and a Kafka")
        for title, step in STEPS:
            start = time.monotonic()
            found = step(rehearsal)
            console.print(f"{time.monotonic() - start:6.1f} s  {title}")
            for fault in found:
                console.print(f"          {fault}", style="red")
            faults += len(found)
    console.print(f"{time.monotonic() - began:6.1f} s  in all, {faults or 'no'} faults")
    return _FAULTY if faults else _OK


def _bootstrap(rehearsal: Rehearsal) -> list[str]:
    rehearsal.bootstrap()
    return []


def _deploy(rehearsal: Rehearsal) -> list[str]:
    rehearsal.deploy()
    return checks.stacks(rehearsal)


def _deploy_again(rehearsal: Rehearsal) -> list[str]:
    before = checks.versions(rehearsal)
    rehearsal.deploy_again()
    return checks.unchanged(before, checks.versions(rehearsal))


def _run(rehearsal: Rehearsal) -> list[str]:
    rehearsal.run()
    return [
        *checks.answers(rehearsal),
        *checks.snapshots(rehearsal),
        *checks.metrics(rehearsal),
        *checks.messages(rehearsal),
        *checks.denials(rehearsal),
    ]


def _outside(rehearsal: Rehearsal) -> list[str]:
    return [
        *checks.outside(attempt_outside(rehearsal)),
        *checks.inside(attempt_inside(rehearsal)),
    ]


def _report(rehearsal: Rehearsal) -> list[str]:
    rehearsal.report()
    return checks.report(rehearsal)


def _change(rehearsal: Rehearsal) -> list[str]:
    before = checks.identities(rehearsal)
    rehearsal.change()
    return [
        *checks.stacks(rehearsal),
        *checks.replaced(before, checks.identities(rehearsal)),
        *checks.changes(rehearsal),
        *checks.answers(rehearsal),
        *checks.snapshots(rehearsal),
        *checks.denials(rehearsal),
    ]


def _remove(rehearsal: Rehearsal) -> list[str]:
    rehearsal.remove()
    return checks.removal(rehearsal)


def _destroy(rehearsal: Rehearsal) -> list[str]:
    bucket = rehearsal.output(SHARED_STACK, "Bucket")
    rehearsal.destroy()
    return checks.destruction(rehearsal, bucket)


def _deploy_on_kept_bucket(rehearsal: Rehearsal) -> list[str]:
    (bucket,) = rehearsal.kept_buckets()
    rehearsal.deploy_on(bucket)
    faults = checks.on_kept_bucket(rehearsal, bucket)
    rehearsal.destroy()
    return [*faults, *checks.destruction(rehearsal, bucket)]


STEPS: tuple[tuple[str, Step], ...] = (
    ("cdk bootstrap", _bootstrap),
    ("cdk deploy of all stacks", _deploy),
    ("cdk deploy of the same, which does nothing", _deploy_again),
    ("runs of the deployed collectors, messages and views", _run),
    ("calls outside their rights, and those of services", _outside),
    ("the daily job with its role, on Spark", _report),
    ("cdk deploy of a changed configuration, and a run", _change),
    ("cdk destroy of one cluster, and cdk deploy without it", _remove),
    ("cdk destroy of all stacks", _destroy),
    ("cdk deploy on the bucket that was kept, with own keys", _deploy_on_kept_bucket),
)

if __name__ == "__main__":
    sys.exit(main())
