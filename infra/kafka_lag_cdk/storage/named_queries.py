# SPDX-License-Identifier: Apache-2.0
"""The saved queries, one file each under `queries`, as people find them in Athena."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from aws_cdk import aws_athena as athena
from constructs import Construct

from kafka_lag_cdk.names import pascal_case

FOLDER = Path(__file__).with_name("queries")

_COMMENT = "--"


@dataclass(frozen=True, slots=True)
class Query:
    """One file: its first comment line is the title, those after it the description."""

    key: str
    title: str
    description: str
    text: str


def queries() -> Iterator[Query]:
    """All of them, by file name."""
    for path in sorted(FOLDER.glob("*.sql")):
        # The licence line says nothing to who reads it in Athena.
        _, _, text = path.read_text().partition("\n")
        title, *more = _head(text)
        yield Query(path.stem, title, " ".join(more), text.strip())


def _head(text: str) -> Iterator[str]:
    for line in text.splitlines():
        if not line.startswith(_COMMENT):
            return
        yield line.removeprefix(_COMMENT).strip()


class NamedQueries(Construct):
    """Every query of the folder, saved in `workgroup` for `database`."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        database: str,
        workgroup: athena.CfnWorkGroup,
    ) -> None:
        super().__init__(scope, construct_id)
        for query in queries():
            saved = athena.CfnNamedQuery(
                self,
                pascal_case(query.key),
                name=query.title,
                description=query.description,
                database=database,
                query_string=query.text,
                work_group=workgroup.name,
            )
            # By name alone CloudFormation would not know which comes first.
            saved.add_resource_dependency(workgroup)
