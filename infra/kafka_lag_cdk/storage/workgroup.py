# SPDX-License-Identifier: Apache-2.0
"""The Athena work group: one engine, a limit on what a query may read, results kept by Athena."""

from __future__ import annotations

from aws_cdk import aws_athena as athena
from constructs import Construct

_GB = 1024**3


class Workgroup(Construct):
    """`workgroup`, whose settings every query in it has, whatever its client asks for.

    Athena keeps the results for 24 hours and bills no storage for them; a query that would read
    more than `scan_limit_gb` is ended. Removing it removes its queries and their past.
    """

    def __init__(
        self, scope: Construct, construct_id: str, *, name: str, scan_limit_gb: int
    ) -> None:
        super().__init__(scope, construct_id)
        self.workgroup = athena.CfnWorkGroup(
            self,
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
