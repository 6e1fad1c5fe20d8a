# SPDX-License-Identifier: Apache-2.0
"""A small configuration, and the change that each option of templates needs."""

from __future__ import annotations

from typing import Any

from kafka_lag import contract
from kafka_lag_config.deployment import Deployment
from tests.infra.configured import KEY, SECRET, SERVICE, STEPS, cluster_json, deployment
from tests.infra.resolve import ACCOUNT, REGION

ARN = f"arn:aws:kafka:{REGION}:{ACCOUNT}:cluster/shop/0a1b2c3d-7"
ID = "0a1b2c3d-aaaa-bbbb-cccc-444455556666"
_OTHER_KEYS = {use: KEY.replace("aaaa", use) for use in ("bbbb", "cccc", "dddd", "eeee")}
_VPC = cluster_json()["vpc"]
_BY_AGE = {
    "metric": "EstimatedTimeLag",
    "out": [{"above": 120, "add": 1}, {"above": 600, "add": 3}],
    "below": 15.5,
}
_SCHEDULE = [
    {"cron": "cron(0 7 ? * MON-FRI *)", "timezone": "Europe/Berlin", "min": 6},
    {"cron": "cron(0 19 ? * MON-FRI *)", "min": 0, "max": 20},
]
# No catalog and no daily report, which each deployment would repeat.
SMALL = {"athena": "off", "report": {"enabled": False}}
EVERYBODY: dict[str, list[Any]] = {
    "email": ["ops@example.com", "night@example.com"],
    "https": ["https://pages.example/in/SECRET"],
    "slack": [{"name": "ops", "workspace_id": "T0123ABCD", "channel_id": "C0123ABCD"}],
    "teams": [
        {
            "name": "ops",
            "team_id": ID,
            "channel_id": "19%3ab6ef35dc342d56ba5654e6fc6d25a071%40thread.tacv2",
            "tenant_id": ID,
        }
    ],
}

# Changes of a cluster, where nothing is said of what is shared.
_CLUSTERS: dict[str, dict[str, Any]] = {
    "iam, paused, every five minutes": {
        "auth": {"type": "iam"},
        "paused": True,
        "interval_seconds": 300,
    },
    "serverless": {"arn": ARN.replace("-7", "-s2"), "auth": {"type": "iam"}},
    "sinks of every kind": {
        "sinks": [
            "cloudwatch",
            {"otlp": {"endpoint": "https://collector.internal:4318/v1/metrics"}},
            {"otlp": {"endpoint": "https://vendor.example/v1/metrics", "headers_secret": "token"}},
        ],
        "namespace": "Ours",
        "allowed_lag": {"^z-": 1, ".*": 0},
        "delay_seconds": {"-retry$": 300},
    },
    "signed OTLP": {
        "sinks": [
            "emf",
            {"otlp": {"sigv4": True}},
            {"otlp": {"endpoint": "https://vendor.example/v1", "headers_secret": SECRET}},
        ]
    },
    "no sink": {"sinks": []},
    "metrics by OTLP": {
        "metrics": "otlp",
        "levels": {"topics": True, "partitions": {}},
        "owner": {"^pay": "team $1"},
        "sla_seconds": {"^pay": 60},
        "alarms": {"groups": ["billing"], "rules": {"any-loss": {"periods": 9}}},
        "dashboard": False,
    },
    "not MSK, with endpoints and a function of its own": {
        "arn": None,
        "region": REGION,
        "account": ACCOUNT,
        "bootstrap_servers": ["b-1:9196", "b-2:9197", "b-1.vpce.example:14001"],
        "auth": {"type": "tls", "secret_arn": SECRET},
        "ca_file": "authority.pem",
        "function": {
            "reserved_concurrency": 1,
            "python": "3.14",
            "architecture": "x86_64",
            "log_days": 30,
        },
        "vpc": {
            "id": _VPC["id"],
            "subnets": _VPC["subnets"],
            "route_tables": ["rtb-0a1b2c3d4e5f60718"],
            "endpoint_security_groups": ["sg-ffffffff"],
            "endpoints": {"s3": True, "secrets_manager": True, "monitoring": True},
            "endpoint_subnets": _VPC["subnets"][:1],
            "cidr": "10.0.0.0/16",
        },
    },
    "every alarm, level and page": {
        "alarms": {
            "groups": ["billing", "naïve:${LABEL}", "unpromised"],
            "anomalies": ["billing"],
            "offset_lag": {"billing": 3_000},
            "deployments": ["billing"],
            "any_unusual": True,
            "owner_topics": {"team-money": f"arn:aws:sns:{REGION}:{ACCOUNT}:money"},
        },
        "mute": [
            {"cron": "0 2 * * SUN", "duration": "2h", "reason": "upgrade", "losses": True},
            {"at": "2099-05-10T02:00", "duration": "30m", "groups": "^billing$"},
            {"at": "2099-05-11T02:00", "duration": "1d", "groups": "^nobody$"},
        ],
        "owner": {"^billing$": "team-money"},
        "sla_seconds": {"billing": 300, "naïve": 60},
        "slo": {"^billing$": {"age_seconds": 3_600, "target": 99.9}},
        "levels": dict.fromkeys(contract.CHOSEN_METRICS, True),
        "risk_horizon_hours": 48,
        "scaling": [{**SERVICE, "max": 6, "steps": STEPS}],
    },
    "no alarm and no dashboard": {
        "alarms": {"any_group": False},
        "dashboard": False,
        "levels": {"topics": False},
    },
    "tasks in steps, after a schedule": {
        "scaling": [
            {
                **SERVICE,
                "service": "stepping",
                "partitions": 60,
                "min": 0,
                "max": 45,
                "tasks": {"groups": ["stock"]},
                "steps": STEPS,
                "schedule": _SCHEDULE,
            }
        ]
    },
    "tracking, age, and a suspended service": {
        "scaling": [
            {
                **SERVICE,
                "group": "naïve",
                "service": "tracked",
                "max": 8,
                "tracking": {
                    "lag_per_member": 500.5,
                    "in_cooldown_seconds": 600,
                    "scale_in": False,
                },
            },
            {**SERVICE, "service": "age", "min": 0, "max": 8, "steps": _BY_AGE},
            {**SERVICE, "service": "s" * 120, "ecs_cluster": "c" * 100, "max": 8, "tasks": {}},
            {**SERVICE, "service": "off", "max": 8, "steps": STEPS, "suspended": True},
        ]
    },
    "a service of another account": {
        "scaling": [{**SERVICE, "account": "999988887777", "max": 12, "tasks": {}}]
    },
}

# What is shared and the deployment's own keys; the cluster's changes are below `cluster`.
_DEPLOYMENTS: dict[str, dict[str, Any]] = {
    "everything shared": {"shared": {"views": {}, "status_messages": {}, "notify": EVERYBODY}},
    "keys of the user's": {
        "cluster": {"auth": {"type": "iam"}},
        "shared": {
            "views": {},
            "status_messages": {},
            "kms_keys": {
                REGION: dict(
                    zip(("bucket", "logs", "topic", "assets"), _OTHER_KEYS.values(), strict=True)
                )
            },
        },
    },
    "a bucket with a key": {
        "shared": {
            "athena": "off",
            "views": {},
            "status_messages": {},
            "existing_buckets": {REGION: {"name": "theirs", "kms_key_arn": _OTHER_KEYS["bbbb"]}},
            "keep": {"snapshot_days": 20, "history_days": 300, "report_days": 100},
        }
    },
    "days to keep, limits, a report of its own": {
        "shared": {
            "keep": {"snapshot_days": 20, "history_days": 300, "report_days": 100},
            "athena": {"scan_limit_gb": 10},
            "report": {
                "hour": 4,
                "glue_version": "5.1",
                "workers": 3,
                "time_limit_minutes": 90,
                "log_days": 60,
            },
            "notify": {"encrypted": False},
        }
    },
    "a token, a bus and reserved concurrency": {
        "shared": {
            **SMALL,
            "views": {"auth": "bearer", "memory_mb": 1024, "concurrency": 3, "log_days": 30},
            "status_messages": {"reserved_concurrency": 1, "memory_mb": 256, "event_bus": "ours"},
            "notify": {"recovered": False, "slack": EVERYBODY["slack"]},
        }
    },
    "messages to the bus alone": {"shared": {**SMALL, "status_messages": {"topic": False}}},
    "messages to the topic alone": {"shared": {**SMALL, "status_messages": {"event_bus": None}}},
    "a topic of the user's, owners": {
        "cluster": {"owner": {"^pay": "team-money"}, "alarms": {"groups": ["payments"]}},
        "shared": {
            **SMALL,
            "status_messages": {},
            "notify": {
                **EVERYBODY,
                "existing_topics": {REGION: f"arn:aws:sns:{REGION}:{ACCOUNT}:pages"},
                "owners": {
                    "team-money": {
                        "email": ["ops@example.com", "money@example.com"],
                        "https": ["https://pages.example/money"],
                    }
                },
            },
        },
    },
    "another name, tags and a boundary": {
        "cluster": {"paused": True, "dashboard": False},
        "name": "other",
        "tags": {"team": "streams"},
        "permissions_boundary": "teams/developers",
        "shared": {"views": {}, **SMALL},
    },
}


def clusters() -> tuple[tuple[str, ...], Deployment]:
    """What each cluster of a deployment is about, a plain one first, and the deployment."""
    made = [cluster_json(name="plain")]
    for number, changes in enumerate(_CLUSTERS.values()):
        made.append(cluster_json(name=f"option-{number}", **changes))
    return ("plain", *_CLUSTERS), deployment(*made, shared=SMALL)


def deployments() -> dict[str, Deployment]:
    """A plain deployment first, then each option of what clusters share by what it is about."""
    found = {"plain": deployment()}
    for name, given in _DEPLOYMENTS.items():
        rest = {key: value for key, value in given.items() if key != "cluster"}
        found[name] = deployment(cluster_json(**given.get("cluster", {})), **rest)
    return found
