# SPDX-License-Identifier: Apache-2.0
"""Opens the Spark session, with the same results on a laptop and on Glue."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from pyspark.sql import SparkSession

LOGGING = Path(__file__).with_name("log4j2.properties")

_JAVA = "spark.driver.extraJavaOptions"
SHUFFLES = "spark.sql.shuffle.partitions"
# These can only be set before the JVM starts.
OWN_JVM = {
    "spark.master": "local[*]",
    "spark.ui.enabled": "false",
    # the default of 100 is less than a day's queries need, so each cluster would compile them again
    "spark.sql.codegen.cache.maxEntries": "1000",
    "spark.ui.showConsoleProgress": "false",
    # otherwise each call on a column asks Java a dozen things, so that an error can name its line
    "spark.python.sql.dataFrameDebugging.enabled": "false",
    # a laptop's host name may resolve to nothing, or to a network that is gone
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    _JAVA: f"-Dlog4j2.configurationFile={LOGGING.as_uri()}",
}

# For a run of a minute or two. Optimizing code that runs a few times takes longer than it saves,
# and the code of a single compiler needs more room than the default. Room for new objects and
# classes is set as well, because the garbage collector runs each time that it grows.
_QUICK_JAVA = (
    "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m -XX:+UseSerialGC"
    " -XX:NewSize=256m -XX:MetaspaceSize=256m"
)
# Settings that numbers and files rely on, wherever the session comes from.
EVERYWHERE = {
    "spark.sql.session.timeZone": "UTC",
    # the default, INT96, is deprecated and unlike the snapshots' milliseconds
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MILLIS",
    # choosing how to compress each column of a kept frame was a tenth of the job
    "spark.sql.inMemoryColumnarStorage.compressed": "false",
    # lists of up to this many names (10 by default) may skip row groups of sorted files
    "spark.sql.parquet.pushdown.inFilterThreshold": "256",
    # with more than 128 keys Spark sorts rows for percentiles anyway, and rows in order are sorted
    "spark.sql.execution.useObjectHashAggregateExec": "false",
    # Spark's web pages show the plan of each query; one of its forms is enough
    "spark.sql.ui.explainMode": "simple",
    # beside other clusters' queries a small join may wait for long
    "spark.sql.broadcastTimeout": "-1",
}

# For days on which planning costs more than the rows: generating and compiling code for each query,
# and planning it again after each stage, takes several times as long as it saves.
FEW_ROWS = {
    SHUFFLES: "1",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    # with few keys no rows need to be sorted
    "spark.sql.execution.useObjectHashAggregateExec": "true",
    "spark.sql.adaptive.enabled": "false",
    # rows in one partition can be joined there, but a broadcast would be another job
    "spark.sql.autoBroadcastJoinThreshold": "-1",
    # Spark's check of itself, after each of its rules
    "spark.sql.lightweightPlanChangeValidation": "false",
    # otherwise each kept frame copies the session to switch this off
    "spark.sql.sources.bucketing.autoBucketedScan.enabled": "false",
}


def open_session(
    environ: Mapping[str, str] = os.environ, *, few_rows: bool = False
) -> SparkSession:
    """Returns the active Spark session, else that of spark-submit or Glue, else a quiet local one.

    If spark-submit or Glue started the program (they set PYSPARK_GATEWAY_PORT), they decide about
    master, logging and sizes. A plain Python program gets a JVM with settings of its own, which
    suit days of `few_rows` or large days.
    """
    ours = "PYSPARK_GATEWAY_PORT" not in environ and SparkSession.getActiveSession() is None
    if ours:
        # Otherwise Spark's workers use the first python3 on the PATH.
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
    """Returns the settings with which an own JVM starts."""
    if not few_rows:
        return OWN_JVM
    return {**OWN_JVM, _JAVA: f"{OWN_JVM[_JAVA]} {_QUICK_JAVA}"}


def new_session(spark: SparkSession, *, few_rows: bool = False) -> SparkSession:
    """Returns another session in the same JVM, with views of its own."""
    session = spark.newSession()
    partitions = {SHUFFLES: str(spark.conf.get(SHUFFLES))}
    settings = {**EVERYWHERE, **partitions, **(FEW_ROWS if few_rows else {})}
    for key, value in settings.items():
        session.conf.set(key, value)
    return session
