# SPDX-License-Identifier: Apache-2.0
"""The Glue database and its tables: metadata alone, so it goes with its stack and comes again."""

from __future__ import annotations

from collections.abc import Sequence

from aws_cdk import Aws, RemovalPolicy
from aws_cdk import aws_glue as glue
from aws_cdk import aws_s3 as s3
from constructs import Construct

from kafka_lag_cdk.config.shared import Keep
from kafka_lag_cdk.names import pascal_case
from kafka_lag_cdk.storage.tables import GLUE_TYPES, Table, tables

_PARQUET = "org.apache.hadoop.hive.ql.io.parquet"


class Catalog(Construct):
    """`database` and its `tables` by name, over the objects of `clusters` in `bucket`.

    A cluster that is taken off the list keeps its objects and is found by no query.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        bucket: s3.IBucket,
        clusters: Sequence[str],
        keep: Keep,
        name: str,
    ) -> None:
        super().__init__(scope, construct_id)
        self.database = glue.Database(
            self,
            "Database",
            database_name=name,
            description="Consumer lag of Kafka: snapshots, history, reports",
            # The next deploy would find a kept one in its way.
            removal_policy=RemovalPolicy.DESTROY,
        )
        self.tables = {
            table.name: self._table(table, bucket.bucket_name, clusters) for table in tables(keep)
        }

    def _table(self, table: Table, bucket: str, clusters: Sequence[str]) -> glue.CfnTable:
        # The L2 table puts a truth value among the parameters, which Glue takes as text only.
        return glue.CfnTable(
            self,
            pascal_case(table.name),
            catalog_id=Aws.ACCOUNT_ID,
            database_name=self.database.database_name,
            table_input=glue.CfnTable.TableInputProperty(
                name=table.name,
                description=table.description,
                table_type="EXTERNAL_TABLE",
                parameters=table.parameters(bucket, clusters),
                partition_keys=[
                    glue.CfnTable.ColumnProperty(name=key, type="string") for key in table.keys
                ],
                storage_descriptor=_parquet(table, bucket),
            ),
        )


def _parquet(table: Table, bucket: str) -> glue.CfnTable.StorageDescriptorProperty:
    return glue.CfnTable.StorageDescriptorProperty(
        location=table.location(bucket),
        columns=[
            glue.CfnTable.ColumnProperty(name=name, type=GLUE_TYPES[kind])
            for name, kind in table.columns.items()
        ],
        input_format=f"{_PARQUET}.MapredParquetInputFormat",
        output_format=f"{_PARQUET}.MapredParquetOutputFormat",
        serde_info=glue.CfnTable.SerdeInfoProperty(
            serialization_library=f"{_PARQUET}.serde.ParquetHiveSerDe",
            parameters={"serialization.format": "1"},
        ),
    )
