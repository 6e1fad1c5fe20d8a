# SPDX-License-Identifier: Apache-2.0
"""The stacks of a configuration as templates that `aws cloudformation deploy` takes, without CDK.

`python -m kafka_lag_cdk.template deployment.toml OUT` writes `OUT/STACK.template.json` for each and
`OUT/assets/`, which go to a bucket of one's own: neither Node nor CDK's bootstrap is needed to
deploy them. Bucket and prefix are parameters, and so are the ids of a cluster's network, by default
those of the configuration.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from aws_cdk import App, CfnParameter, DefaultStackSynthesizer

from kafka_lag_cdk.packaging import PackagingError
from kafka_lag_cdk.stacks import stacks_of
from kafka_lag_config.cluster import Cluster
from kafka_lag_config.deployment import Deployment
from kafka_lag_config.faults import ConfigurationError
from kafka_lag_config.reading import read

BUCKET, PREFIX = "AssetsBucket", "AssetsPrefix"
# Named by their content.
_ASSET = re.compile(r"[0-9a-f]{64}(\.\w+)?")
# In a zip each file has a date; this is the earliest that there is.
_LONG_AGO = (1980, 1, 1, 0, 0, 0)
_READABLE = 0o644 << 16

Json: TypeAlias = Any


def write(deployment: Deployment, out: Path, package: Path | None = None) -> list[Path]:
    """Writes all templates in the order they are deployed in, and their assets; earlier ones go.

    Raises PackagingError where a package cannot be built.
    """
    clusters = dict[str, Cluster]()
    with TemporaryDirectory() as made:
        app = App(outdir=made, default_stack_synthesizer=_synthesizer(), context=_flags())
        for stack in stacks_of(app, deployment, package):
            if stack.has_assets:
                description = "Bucket that holds the assets"
                CfnParameter(stack, BUCKET, type="String", description=description)
            if stack.cluster:
                clusters[stack.artifact_id] = stack.cluster
        assembly = app.synth()
        _clear(out / "assets")
        written = []
        for artifact in assembly.stacks_recursively:
            keys = list(_write_assets(Path(made), artifact.id, out / "assets"))
            template = _with_parameters(artifact.template, keys, clusters.get(artifact.id))
            # One name may be a stack's in several accounts and regions.
            path = out / f"{artifact.id}.template.json"
            # Compact: CloudFormation takes 51,200 bytes where a template does not lie in S3.
            path.write_text(json.dumps(template, separators=(",", ":")) + "\n")
            written.append(path)
    return written


def _clear(folder: Path) -> None:
    """Makes the folder and deletes assets in it; files with other names stay."""
    folder.mkdir(parents=True, exist_ok=True)
    for path in folder.iterdir():
        if _ASSET.fullmatch(path.name):
            path.unlink()


def _synthesizer() -> DefaultStackSynthesizer:
    return DefaultStackSynthesizer(
        generate_bootstrap_version_rule=False, file_assets_bucket_name=f"${{{BUCKET}}}"
    )


def _flags() -> dict[str, Any]:
    """Returns CDK's feature flags, as `cdk.json` sets them for a clone."""
    path = Path("cdk.json")
    return dict(json.loads(path.read_text())["context"]) if path.is_file() else {}


def _write_assets(assembly: Path, stack: str, folder: Path) -> Iterator[str]:
    """Writes a stack's assets except its template; yields their keys below the prefix."""
    files = json.loads((assembly / f"{stack}.assets.json").read_text())["files"]
    for each in files.values():
        source = assembly / each["source"]["path"]
        if source.name.endswith(".template.json"):
            continue
        (destination, *_) = each["destinations"].values()
        key = str(destination["objectKey"])
        if each["source"]["packaging"] == "zip":
            _zip(source, folder / key)
        else:
            shutil.copyfile(source, folder / key)
        yield key


def _zip(source: Path, target: Path) -> None:
    """Writes a zip that has the same bytes for the same files."""
    with ZipFile(target, "w", ZIP_DEFLATED) as archive:
        for path in sorted(path for path in source.rglob("*") if path.is_file()):
            about = ZipInfo(path.relative_to(source).as_posix(), _LONG_AGO)
            about.external_attr = _READABLE
            about.compress_type = ZIP_DEFLATED
            archive.writestr(about, path.read_bytes())


def _with_parameters(
    template: Mapping[str, Json], keys: Sequence[str], cluster: Cluster | None
) -> dict[str, Json]:
    parameters = {
        name: {"Description": "SSM parameter of the shared stack, read at each deploy", **each}
        for name, each in template.get("Parameters", {}).items()
    }
    if keys:
        parameters[PREFIX] = {
            "Type": "String",
            "Default": "",
            "Description": "What stands before their keys, as in kafka-lag/",
        }
    references: dict[str, Json] = {}
    if cluster is not None:
        for name, kind, ids, description in _network(cluster):
            parameters[name] = {
                "Type": kind,
                "Default": ",".join(ids),
                "Description": description,
            }
            whole = {"Ref": name}
            listed = kind.startswith("List")
            for index, each in enumerate(ids):
                references[each] = {"Fn::Select": [index, whole]} if listed else whole
    found: dict[str, Json] = {**template, "Parameters": parameters}
    for part in ("Resources", "Outputs"):
        if part in template:
            found[part] = _referring(template[part], keys, references)
    return found if parameters else dict(template)


def _network(cluster: Cluster) -> Iterator[tuple[str, str, Sequence[str], str]]:
    """Yields the parameters of a cluster's network: name, type, configured ids, description."""
    vpc = cluster.vpc
    yield "VpcId", "AWS::EC2::VPC::Id", [vpc.id], "The VPC that the collector runs in"
    subnets = f"The collector's subnets, {len(vpc.subnets)} as in the configuration"
    yield "SubnetIds", "List<AWS::EC2::Subnet::Id>", vpc.subnets, subnets
    if group := vpc.brokers_security_group:
        opened = "The brokers' security group, which is opened for the collector"
        yield "BrokersGroup", "AWS::EC2::SecurityGroup::Id", [group], opened


def _referring(value: Json, keys: Sequence[str], references: Mapping[str, Json]) -> Json:
    """Returns the template with assets below the prefix, and ids as references."""
    match value:
        case {"Fn::Sub": str(text)}:
            return {"Fn::Sub": _below_prefix(text, keys)}
        case str() if value in references:
            return references[value]
        case str():
            moved = _below_prefix(value, keys)
            return value if moved == value else {"Fn::Sub": moved}
        case list():
            return [_referring(each, keys, references) for each in value]
        case dict():
            return {name: _referring(each, keys, references) for name, each in value.items()}
        case _:
            return value


def _below_prefix(text: str, keys: Sequence[str]) -> str:
    for key in keys:
        text = text.replace(key, f"${{{PREFIX}}}{key}")
    return text


def main(argv: Sequence[str] | None = None) -> int:
    """Writes templates and prints where; returns 1 if configuration or packing is at fault."""
    parser = argparse.ArgumentParser(prog="python -m kafka_lag_cdk.template")
    parser.add_argument("config", help="a JSON or TOML file")
    parser.add_argument("out", type=Path, help="the folder to write to")
    options = parser.parse_args(argv)
    try:
        written = write(read(options.config, Path.cwd()), options.out)
    except (ConfigurationError, PackagingError) as error:
        print(error, file=sys.stderr)
        return 1
    for path in (*written, options.out / "assets"):
        print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
