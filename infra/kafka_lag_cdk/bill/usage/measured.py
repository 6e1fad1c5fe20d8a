# SPDX-License-Identifier: Apache-2.0
"""What was measured of the collector, and what is assumed of its users; tests hold the former.

A size is bytes, a duration seconds, a month the average one.
"""

from __future__ import annotations

# A month.
DAYS = 30.4
HOURS = DAYS * 24

KB, MB, GB, TB = (1024.0**power for power in (1, 2, 3, 4))

# Embedded metric lines, by the level of a set: names of 15 to 25 characters, then each metric.
HEALTH_LINES = 870
GROUP_LINE = 225
TOPIC_LINE = 265
PARTITION_LINE = 290
LINE_PER_METRIC = 60

# What one request of PutMetricData holds [botocore cloudwatch PutMetricData].
METRICS_PER_REQUEST = 1000

# What Lambda writes of a run (start, end, report) and room for a warning or two.
RUN_LOG = 800

# Parquet objects: what an empty one takes, then each row. Members have long names.
TOPIC_OBJECT, TOPIC_ROW = 6_500, 20
PARTITION_OBJECT, PARTITION_ROW = 18_000, 33
GROUP_OBJECT, GROUP_ROW = 12_500, 45

# The same rows where those of many runs lie in one object, by partition and then by time.
TOPIC_ROW_COMPACTED, PARTITION_ROW_COMPACTED, GROUP_ROW_COMPACTED = 18, 39, 40

OBJECTS_PER_RUN = 3

# A warm run of 60,000 group-partitions takes 0.34 s on a whole core (`make bench`), and objects
# are written to S3 one after another.
RUN_CPU_SECONDS, ROW_CPU_SECONDS = 0.03, 0.31 / 60_000
RUN_WAITING_SECONDS = 0.15

# Lambda gives so much memory with a whole core [AWS Lambda developer guide, function memory].
CORE_MB = 1769

# Assumed: a function's environment lives for two hours; the next looks for its state in S3.
COLD_STARTS_PER_DAY = 12
COLD_LISTS, COLD_READS = 6, 35

# Assumed: bytes between collector and brokers a row and run, two thirds of them between zones,
# where both ways are charged.
ROW_TRAFFIC = 60
ZONE_SHARE = 2 / 3

# Assumed of the daily job, which has not been measured on Glue: minutes to start and for what does
# not grow with the rows, and seconds that one of a day's objects makes it wait, 32 of them being
# opened at once. Measured by dev.bench_report: rows that a core compacts and reduces a second,
# rounded down. A G.1X worker is one DPU of 4 cores, and one of the workers drives.
JOB_START_MINUTES = 1.9
OPEN_SECONDS = 0.003
ROWS_PER_CORE_SECOND = 100_000
CORES = 4

# Assumed: what Spark's driver and workers log of a cluster a day, to groups that Glue makes and
# whose lines it keeps for ever.
JOB_LOG = 5 * MB

# Reads of each of a day's objects: footer and rows, and once more the footer before it is deleted,
# each with a question for its size.
JOB_READS = 6

# What never expires, as snapshots that no daily job compacts and Glue's log, is counted as of so
# many days after the deploy.
FIRST_YEAR = 365

# A key's first two rotations are charged, each from then on; the topic's key rotates each year.
CHARGED_ROTATIONS = 2

# Assumed: bytes of the daily reports a group-partition and a group, whose hours are in them, and
# those of a page.
REPORT_ROW, REPORT_GROUP, REPORT_PAGE = 120, 2_000, 500_000

# Assumed of people: queries a day in a region, each over one cluster's groups of a day, and
# messages a month in each cluster's name.
QUERIES_PER_DAY = 10
LEAST_SCAN = 10 * MB
MESSAGES_PER_CLUSTER = 50

# Assumed of views: one that scrapes each minute, seconds of a warm answer a cluster at 512 MB, and
# requests that find the newest snapshots: the clusters, then day, hour and run of each.
SCRAPES_PER_DAY = 1440
SCRAPE_SECONDS = 0.3
LISTS_PER_SCRAPE, LISTS_PER_CLUSTER = 1, 3

# Assumed of messages: seconds of a run at 512 MB, in which little but S3 is waited for; it reads
# a small snapshot, and of each channel lists the hour, reads the cursor and writes it.
NOTIFY_SECONDS = 0.4
