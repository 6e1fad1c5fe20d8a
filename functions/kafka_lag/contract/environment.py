# SPDX-License-Identifier: Apache-2.0
"""Environment variables of the functions, and the version of the collector's configuration."""

# Environment of the collector.
ENV_CONFIG = "KAFKA_LAG_CONFIG"
ENV_BUCKET = "KAFKA_LAG_BUCKET"
# Replaces the configuration's brokers if the deployment looked them up: host:port,host:port.
ENV_BOOTSTRAP_SERVERS = "KAFKA_LAG_BOOTSTRAP_SERVERS"
# Replaces the configuration's secret if the deployment makes it: its ARN.
ENV_SECRET_ID = "KAFKA_LAG_SECRET_ID"  # noqa: S105  # the name of a variable
# Set by Lambda itself.
ENV_REGION = "AWS_REGION"
# Read by the C library and Arrow as the process starts, so that a run can use memory that the
# previous run freed. With their defaults 200,000 group-partitions took a quarter more.
MEMORY_SETTINGS = {"ARROW_DEFAULT_MEMORY_POOL": "system", "MALLOC_ARENA_MAX": "1"}
# Read by numpy, which otherwise starts a thread per core for linear algebra. We do not use it, and
# the threads cost as much CPU as numpy's own import.
THREAD_SETTINGS = {"OPENBLAS_NUM_THREADS": "1"}
# Version of the collector's configuration. Raise it if an older collector would read a newer
# configuration wrongly: a key is gone, has another unit or meaning, or is new and must not be
# ignored. Another new key needs no new version: an older collector ignores it, and a newer one
# names a key that an older configuration lacks.
DOCUMENT_VERSION_KEY, DOCUMENT_VERSION = "version", 1

# Environment of serve_lag, beside the bucket: the kind of access, and the secret with the token.
ENV_AUTH = "KAFKA_LAG_AUTH"
ENV_TOKEN_SECRET = "KAFKA_LAG_TOKEN_SECRET"  # noqa: S105  # the name of a variable
AUTH_IAM, AUTH_BEARER = "iam", "bearer"

# Environment of notify_status, beside the bucket.
ENV_STATUS_TOPIC = "KAFKA_LAG_STATUS_TOPIC"
ENV_EVENT_BUS = "KAFKA_LAG_EVENT_BUS"
ENV_CHAT = "KAFKA_LAG_CHAT"
# ARNs of MSK clusters by name, as JSON, whose state messages on maintenance name.
ENV_MSK_CLUSTERS = "KAFKA_LAG_MSK_CLUSTERS"
