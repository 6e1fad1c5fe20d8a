# SPDX-License-Identifier: Apache-2.0
"""Variables of the functions, and the document that one of them names."""

# Environment of the collector.
ENV_CONFIG = "KAFKA_LAG_CONFIG"
ENV_BUCKET = "KAFKA_LAG_BUCKET"
# Instead of the document's, where a deploy looked them up: host:port,host:port.
ENV_BOOTSTRAP_SERVERS = "KAFKA_LAG_BOOTSTRAP_SERVERS"
# Instead of the document's, where a deploy makes the secret: its ARN.
ENV_SECRET_ID = "KAFKA_LAG_SECRET_ID"  # noqa: S105  # the name of a variable
# Set by Lambda itself.
ENV_REGION = "AWS_REGION"
# For the C library and Arrow, which read them as the process starts: what a run frees, the next can
# use. With the allocators' own choices 200,000 group-partitions held a quarter more.
MEMORY_SETTINGS = {"ARROW_DEFAULT_MEMORY_POOL": "system", "MALLOC_ARENA_MAX": "1"}
# For numpy: else it starts a thread a core for linear algebra, of which there is none here. That
# costs as much CPU as numpy's own import.
THREAD_SETTINGS = {"OPENBLAS_NUM_THREADS": "1"}
# Of the collector's configuration document. To be raised where a collector of before would read a
# newer document wrongly: a key that is gone, has another unit or means something else, or a new one
# that must not be overlooked. A new key alone needs none: a collector of before leaves it out, and
# one that misses a key in an older document names it.
DOCUMENT_VERSION_KEY, DOCUMENT_VERSION = "version", 1

# Environment of serve_lag, beside the bucket: who has access, and the secret with the token.
ENV_AUTH = "KAFKA_LAG_AUTH"
ENV_TOKEN_SECRET = "KAFKA_LAG_TOKEN_SECRET"  # noqa: S105  # the name of a variable
AUTH_IAM, AUTH_BEARER = "iam", "bearer"

# Environment of notify_status, beside the bucket.
ENV_STATUS_TOPIC = "KAFKA_LAG_STATUS_TOPIC"
ENV_EVENT_BUS = "KAFKA_LAG_EVENT_BUS"
ENV_CHAT = "KAFKA_LAG_CHAT"
