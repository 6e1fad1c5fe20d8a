# SPDX-License-Identifier: Apache-2.0
"""Snapshots, history and reports in Athena: Glue tables, a work group, saved queries.

Partitions are projected, which means computed from a table's parameters: nothing crawls, and no
partition is ever added [Athena user guide, partition projection]. All of it is metadata alone, so
it goes with its stack and comes again.
"""

from __future__ import annotations

from collections.abc import Sequence

from aws_cdk import Aws, RemovalPolicy
from aws_cdk import aws_athena as athena
from aws_cdk import aws_glue as glue
from aws_cdk import aws_s3 as s3
from constructs import Construct

from kafka_lag import contract
from kafka_lag_cdk.names import pascal_case
from kafka_lag_config.catalog import CLUSTER, DATE, HOUR, Table, catalog_tables
from kafka_lag_config.saved_queries import read_queries
from kafka_lag_config.shared import Athena, Keep

# Types of the contract as Glue names them. Athena takes a Parquet timestamp of milliseconds in UTC
# as `timestamp`, and shows it in UTC.
_GLUE_TYPES = {
    contract.STRING: "string",
    contract.LONG: "bigint",
    contract.INT: "int",
    contract.DOUBLE: "double",
    contract.BOOLEAN: "boolean",
    contract.TIMESTAMP: "timestamp",
    contract.INT_LIST: "array<int>",
    contract.DOUBLE_LIST: "array<double>",
}
_PARQUET = "org.apache.hadoop.hive.ql.io.parquet"

_GB = 1024**3


def make_athena(
    scope: Construct,
    *,
    bucket: s3.IBucket,
    clusters: Sequence[str],
    keep: Keep,
    settings: Athena,
    name: str,
) -> str:
    """Tables over the objects of `clusters`, a work group and its queries; the work group's name.

    A cluster that is taken off the list keeps its objects and is found by no query. `name` is the
    deployment's: the work group has it, and with underscores the database.
    """
    database = _make_database(Construct(scope, "Catalog"), bucket, clusters, keep, name)
    workgroup = _make_workgroup(Construct(scope, "Queries"), name, settings.scan_limit_gb)
    _save_queries(Construct(scope, "Saved"), database, workgroup)
    return workgroup.ref


def _make_database(
    scope: Construct, bucket: s3.IBucket, clusters: Sequence[str], keep: Keep, name: str
) -> glue.Database:
    """Makes the database with all its tables, each as far back as its objects are kept."""
    database = glue.Database(
        scope,
        "Database",
        database_name=name.replace("-", "_"),
        description="Consumer lag of Kafka: snapshots, history, reports",
        # The next deploy would find a kept one in its way.
        removal_policy=RemovalPolicy.DESTROY,
    )
    days = {
        contract.SNAPSHOT_PREFIX: keep.snapshot_days,
        contract.HISTORY_PREFIX: keep.history_days,
        contract.REPORT_PREFIX: keep.report_days,
    }
    for table in catalog_tables().values():
        _make_table(
            scope,
            table,
            database=database.database_name,
            bucket=bucket.bucket_name,
            clusters=clusters,
            days=days[table.prefix],
        )
    return database


def _make_table(
    scope: Construct,
    table: Table,
    *,
    database: str,
    bucket: str,
    clusters: Sequence[str],
    days: int,
) -> None:
    """Makes a table over the objects of the last `days` in a bucket."""
    location = f"s3://{bucket}/{table.folder}/"
    # The L2 table puts a truth value among the parameters, which Glue takes as text only.
    glue.CfnTable(
        scope,
        pascal_case(table.name),
        catalog_id=Aws.ACCOUNT_ID,
        database_name=database,
        table_input=glue.CfnTable.TableInputProperty(
            name=table.name,
            description=table.description,
            table_type="EXTERNAL_TABLE",
            parameters=_projection(location, table.keys, clusters, days),
            partition_keys=[
                glue.CfnTable.ColumnProperty(name=key, type="string") for key in table.keys
            ],
            storage_descriptor=glue.CfnTable.StorageDescriptorProperty(
                location=location,
                columns=[
                    glue.CfnTable.ColumnProperty(name=column, type=_GLUE_TYPES[kind])
                    for column, kind in table.columns.items()
                ],
                input_format=f"{_PARQUET}.MapredParquetInputFormat",
                output_format=f"{_PARQUET}.MapredParquetOutputFormat",
                serde_info=glue.CfnTable.SerdeInfoProperty(
                    serialization_library=f"{_PARQUET}.serde.ParquetHiveSerDe",
                    parameters={"serialization.format": "1"},
                ),
            ),
        ),
    )


def _projection(
    location: str, keys: Sequence[str], clusters: Sequence[str], days: int
) -> dict[str, str]:
    """Returns the partition projection of Athena: these clusters, the last days, 24 hours."""
    ranges = {
        CLUSTER: {"type": "enum", "values": ",".join(clusters)},
        DATE: {
            "type": "date",
            "format": "yyyy-MM-dd",
            "range": f"NOW-{days}DAYS,NOW",
            "interval": "1",
            "interval.unit": "DAYS",
        },
        HOUR: {"type": "integer", "range": "0,23", "digits": "2"},
    }
    folders = "".join(f"{key}=${{{key}}}/" for key in keys)
    return {
        "EXTERNAL": "TRUE",
        "classification": "parquet",
        "projection.enabled": "true",
        **{
            f"projection.{key}.{option}": value
            for key in keys
            for option, value in ranges[key].items()
        },
        "storage.location.template": f"{location}{folders}",
    }


def _make_workgroup(scope: Construct, name: str, scan_limit_gb: int) -> athena.CfnWorkGroup:
    """Makes a work group whose settings override those of the client.

    Athena keeps the results for 24 hours and bills no storage for them; a query that would read
    more than the limit is ended. Removing it removes its queries and their past. CDK has no L2 of
    Athena.
    """
    return athena.CfnWorkGroup(
        scope,
        "Workgroup",
        name=name,
        description="Consumer lag of Kafka",
        state="ENABLED",
        # Without it a work group that was ever used cannot be deleted.
        recursive_delete_option=True,
        work_group_configuration=athena.CfnWorkGroup.WorkGroupConfigurationProperty(
            bytes_scanned_cutoff_per_query=scan_limit_gb * _GB,
            enforce_work_group_configuration=True,
            engine_version=athena.CfnWorkGroup.EngineVersionProperty(
                selected_engine_version="Athena engine version 3"
            ),
            managed_query_results_configuration=(
                athena.CfnWorkGroup.ManagedQueryResultsConfigurationProperty(enabled=True)
            ),
            publish_cloud_watch_metrics_enabled=True,
        ),
    )


def _save_queries(
    scope: Construct, database: glue.Database, workgroup: athena.CfnWorkGroup
) -> None:
    for query in read_queries():
        saved = athena.CfnNamedQuery(
            scope,
            pascal_case(query.key),
            name=query.title,
            description=query.description,
            database=database.database_name,
            query_string=query.text,
            work_group=workgroup.name,
        )
        # By name alone CloudFormation would not know which comes first.
        saved.add_resource_dependency(workgroup)
