# SPDX-License-Identifier: Apache-2.0
"""Alarms by PromQL: Prometheus evaluates their queries, and our model gives the same."""

from __future__ import annotations

import json
import random
import subprocess
from pathlib import Path

import numpy as np
import pytest

from kafka_lag import contract
from kafka_lag_cli.replay.alarms import condition_of
from kafka_lag_config.alarm_rules import ANY_GROUP, ANY_LOSS, ANY_SLA, Rule
from kafka_lag_config.faults import ConfigurationError
from kafka_lag_config.promql import find_promql_faults, promql_query
from kafka_lag_config.simulation.evaluation import Counts
from kafka_lag_config.simulation.grid import ALARM, Condition, Grid, find_states
from tests.contract.prometheus_programs import program
from tests.infra.configured import cluster

SERIES, MINUTES = 40, 45
VALUES = {
    ANY_GROUP: (0, 1, 2),
    ANY_SLA: (0.2, 1, 1.5),
    ANY_LOSS: (contract.NO_LOSS_SECONDS, 3_600, 0),
}


def drawn(rule: Rule) -> Grid:
    """Values that stay for some minutes, and gaps, longer ones as well."""
    chance = random.Random(rule.name)  # noqa: S311 - the same in every run
    columns = []
    for _ in range(SERIES):
        column: list[float] = []
        while len(column) < MINUTES:
            value = chance.choice((*VALUES[rule], float("nan")))
            column += [value] * chance.choice((1, 1, 2, 3, 4, 7))
        columns.append(column[:MINUTES])
    return np.array(columns).T


@pytest.mark.parametrize("rule", VALUES, ids=lambda rule: rule.name)
@pytest.mark.parametrize("hold", [1, 3])
def test_prometheus_has_the_states_of_our_model(tmp_path: Path, rule: Rule, hold: int) -> None:
    one = cluster(
        metrics="otlp",
        hold=hold,
        sla_seconds={"x": 60},
        alarms={"groups": ["g0"]},
        owner={"^g1": "$a"},
    )
    values = drawn(rule)
    condition = condition_of(one, rule, float(rule.threshold or 0), query=True)
    expected = find_states(values, condition) == ALARM
    assert expected[:, 1:].any()
    assert not expected[:, 1:].all()
    # Debian's Prometheus knows no names with dots, and its ranges have their first moment, too.
    query = promql_query(one.facts, rule).replace('"kafka.cluster.alias"', "cluster")
    name = query.split('{"')[1].split('"')[0]
    query = query.replace(f'{{"{name}",', "m{").replace("[5m]", "[299s]")
    period = f"{hold - 1}m"
    alert = {"alert": "a", "expr": query, "for": period, "keep_firing_for": period}
    (tmp_path / "rules.yml").write_text(json.dumps({"groups": [{"name": "g", "rules": [alert]}]}))
    series = [
        {
            "series": f'm{{cluster="orders",group="g{at}"}}',
            "values": " ".join("_" if np.isnan(v) else f"{v:g}" for v in values[:, at]),
        }
        for at in range(SERIES)
    ]
    checks = []
    for minute in range(MINUTES):
        firing = [at for at in np.flatnonzero(expected[minute]) if at]
        labels = [f'cluster="orders",group="g{at}"' + _owner(at) for at in firing]
        samples = [
            {"labels": f'ALERTS{{alertname="a",alertstate="firing",{each}}}', "value": 1}
            for each in labels
        ]
        expr = 'ALERTS{alertstate="firing"}'
        checks.append({"expr": expr, "eval_time": f"{minute}m", "exp_samples": samples})
    (tmp_path / "test.yml").write_text(
        json.dumps(
            {
                "rule_files": ["rules.yml"],
                "evaluation_interval": "1m",
                "tests": [{"interval": "1m", "input_series": series, "promql_expr_test": checks}],
            }
        )
    )
    call = [program("promtool"), "test", "rules", str(tmp_path / "test.yml")]
    done = subprocess.run(call, capture_output=True, text=True, check=False)
    assert done.returncode == 0, (done.stdout + done.stderr)[-2_000:]


def _owner(at: object) -> str:
    return ',owner="$a"' if str(at).startswith("1") else ""


@pytest.mark.parametrize(
    ("values", "states"),
    [
        ("..X..", "....."),
        ("XXX..", "..XXX"),
        ("XXX...X", "..XXX.."),
        ("XXX..XX....", "..XXXXXXX.."),
    ],
)
def test_hold_delays_a_page_and_its_end(values: str, states: str) -> None:
    condition = Condition(
        "GreaterThanThreshold", 1, Counts(3, 1), contributors=True, pending=2, recovery=2
    )
    grid = np.array([[2.0 if sign == "X" else 0.0] for sign in values])
    found = find_states(grid, condition)[:, 0] == ALARM
    assert "".join("X" if each else "." for each in found) == states


def test_names_leave_the_query_what_it_takes() -> None:
    names = [f"{at:03}-{'x' * 200}" for at in range(100)]
    one = cluster(metrics="otlp", alarms={"groups": names}, owner={"^(?:000)": 'a"b'})
    assert 9_000 < len(promql_query(one.facts, ANY_GROUP)) <= 10_000
    assert not list(find_promql_faults(one.facts))


def test_the_end_of_a_name_is_written_as_the_query_reads_it() -> None:
    one = cluster(metrics="otlp", owner={r"^a\Z|[\\Z]": "x"})
    assert json.dumps(r"(?s:.*(?:^a\z|[\\Z]).*)") in promql_query(one.facts, ANY_GROUP)


_OTHER_LEVELS = {"sigv4": True, "names": "otel", "levels": {"partitions": {}}}
_ELSEWHERE = {
    "sigv4": True,
    "names": "otel",
    "endpoint": "https://monitoring.eu-west-1.amazonaws.com/v1/metrics",
}


@pytest.mark.parametrize(
    "keys",
    [
        {"owner": {"(?!a)": "x"}},
        {"owner": {"(a)\\1": "x"}},
        {"sinks": ["emf", {"otlp": _OTHER_LEVELS}]},
        {"sinks": ["emf", {"otlp": _ELSEWHERE}]},
        {"levels": {"named_only": True}},
    ],
)
def test_what_would_leave_alarms_without_data_is_refused(keys: dict[str, object]) -> None:
    with pytest.raises(ConfigurationError):
        cluster(metrics="otlp", **keys)
