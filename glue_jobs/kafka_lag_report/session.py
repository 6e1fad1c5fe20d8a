# SPDX-License-Identifier: Apache-2.0
"""The Spark session, alike on a laptop and on Glue."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from pyspark.sql import SparkSession

LOGGING = Path(__file__).with_name("log4j2.properties")

_JAVA = "spark.driver.extraJavaOptions"
SHUFFLES = "spark.sql.shuffle.partitions"
# Only before the JVM starts can these be set.
OWN_JVM = {
    "spark.master": "local[*]",
    "spark.ui.enabled": "false",
    # 100 by default, fewer than a day's queries make: the next cluster's compiled them all anew
    "spark.sql.codegen.cache.maxEntries": "1000",
    "spark.ui.showConsoleProgress": "false",
    # else each call on a column asks Java a dozen things, so that an error could name its line
    "spark.python.sql.dataFrameDebugging.enabled": "false",
    # a laptop's host name may resolve to nothing, or to a network that is gone
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    _JAVA: f"-Dlog4j2.configurationFile={LOGGING.as_uri()}",
}

# For a run that lasts a minute or two: to compile well what runs a few times takes longer than it
# saves, and the code of one compiler alone needs more room than it is given by default. So do new
# objects and classes: else garbage is collected each time that they are given some more.
_QUICK_JAVA = (
    "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m -XX:+UseSerialGC"
    " -XX:NewSize=256m -XX:MetaspaceSize=256m"
)
# What the numbers and files rely on, wherever the session comes from.
EVERYWHERE = {
    "spark.sql.session.timeZone": "UTC",
    # the default, INT96, is deprecated and unlike the snapshots' milliseconds
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MILLIS",
    # choosing how to compress each column of a kept frame was a tenth of the job
    "spark.sql.inMemoryColumnarStorage.compressed": "false",
    # which row groups of sorted files are skipped, by a list of names; 10 by default
    "spark.sql.parquet.pushdown.inFilterThreshold": "256",
    # of more than 128 keys percentiles are of sorted rows either way; those in order are so already
    "spark.sql.execution.useObjectHashAggregateExec": "false",
    # each query's plan is written down for Spark's pages: one of its several forms is enough
    "spark.sql.ui.explainMode": "simple",
    # beside other clusters' queries a small join may wait for long
    "spark.sql.broadcastTimeout": "-1",
}

# Where planning costs more than the rows: to generate and compile code for each query, and to plan
# it again after each of its stages, takes several times what it saves.
FEW_ROWS = {
    SHUFFLES: "1",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    # of few keys nothing needs to be sorted
    "spark.sql.execution.useObjectHashAggregateExec": "true",
    "spark.sql.adaptive.enabled": "false",
    # what lies in one partition is joined there, where a broadcast would be a job of its own
    "spark.sql.autoBroadcastJoinThreshold": "-1",
    # Spark's check of itself, after each of its rules
    "spark.sql.lightweightPlanChangeValidation": "false",
    # else each frame that is kept has a copy of the session, in which this is off
    "spark.sql.sources.bucketing.autoBucketedScan.enabled": "false",
}


def open_session(
    environ: Mapping[str, str] = os.environ, *, few_rows: bool = False
) -> SparkSession:
    """Return the session there is, else spark-submit's or Glue's, else a quiet local one.

    Started by spark-submit or Glue (they set PYSPARK_GATEWAY_PORT), master, logging and sizes are
    theirs; started as a plain Python program nothing else has configured them. Its JVM then suits
    days of `few_rows`, or large ones.
    """
    ours = "PYSPARK_GATEWAY_PORT" not in environ and SparkSession.getActiveSession() is None
    if ours:
        # Else Spark's workers are whatever python3 comes first on the PATH.
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.appName("daily_report")
    for key, value in own_settings(few_rows=few_rows).items() if ours else ():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    for key, value in EVERYWHERE.items():
        spark.conf.set(key, value)
    if ours:
        # 200 tasks a shuffle cost more than the work on one machine
        spark.conf.set(SHUFFLES, "8")
    return spark


def own_settings(*, few_rows: bool) -> dict[str, str]:
    """What a JVM that is ours starts with."""
    if not few_rows:
        return OWN_JVM
    return {**OWN_JVM, _JAVA: f"{OWN_JVM[_JAVA]} {_QUICK_JAVA}"}


def new_session(spark: SparkSession, *, few_rows: bool = False) -> SparkSession:
    """A session beside this one, in the same JVM, whose views nobody else has."""
    session = spark.newSession()
    partitions = {SHUFFLES: str(spark.conf.get(SHUFFLES))}
    settings = {**EVERYWHERE, **partitions, **(FEW_ROWS if few_rows else {})}
    for key, value in settings.items():
        session.conf.set(key, value)
    return session
