# SPDX-License-Identifier: Apache-2.0
"""Every saved query by itself: Athena's dialect, the catalog's columns, no scan without a date."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import sqlglot
from sqlglot import exp
from sqlglot.optimizer.qualify import qualify

from kafka_lag import contract
from kafka_lag_config.saved_queries import Query, read_queries
from tests.infra.storage.queries import story
from tests.infra.storage.queries.athena import TEXTS, Athena
from tests.infra.storage.queries.story import SHOP
from tests.infra.storage.stack import tables, template

ALL = list(read_queries())
OVER_REPORTS = {"incidents_of_the_week", "objectives_now", "retention_enough", "sla_by_week"}
OF_NOW = {"group_wrong_now", "lag_by_broker", "lag_by_member"}
# Reports have a table of their own; what is said of today needs the snapshots.
WITHOUT_OLD_DAYS = {*OVER_REPORTS, *OF_NOW, "groups_new_and_gone"}
NAMES = ("cluster", "consumer_group", "topic")
MANUAL = Path(__file__).parents[4] / "docs" / "alarms.md"

# What cannot be a name in a SELECT of Athena unless quoted [Athena user guide, reserved keywords].
_WORDS = """
    ALTER AND AS BETWEEN BY CASE CAST CONSTRAINT CREATE CROSS CUBE CURRENT_CATALOG CURRENT_DATE
    CURRENT_PATH CURRENT_SCHEMA CURRENT_TIME CURRENT_TIMESTAMP CURRENT_USER DEALLOCATE DELETE
    DESCRIBE DISTINCT DROP ELSE END ESCAPE EXCEPT EXECUTE EXISTS EXTRACT FALSE FIRST FOR FROM FULL
    GROUP GROUPING HAVING IN INNER INSERT INTERSECT INTO IS JOIN JSON_ARRAY JSON_EXISTS
    JSON_OBJECT JSON_QUERY JSON_TABLE JSON_VALUE LAST LEFT LIKE LISTAGG LOCALTIME LOCALTIMESTAMP
    NATURAL NORMALIZE NOT NULL OF ON OR ORDER OUTER PREPARE RECURSIVE RIGHT ROLLUP SELECT SKIP
    TABLE THEN TRIM TRUE UESCAPE UNION UNNEST USING VALUES WHEN WHERE WITH
"""
RESERVED = frozenset(_WORDS.split())


def _tree(key: str) -> exp.Query:
    tree = sqlglot.parse_one(TEXTS[key], read="athena")
    assert isinstance(tree, exp.Query)
    return tree


def _columns() -> dict[str, object]:
    return {
        name: {
            **{c["Name"]: c["Type"] for c in table["StorageDescriptor"]["Columns"]},
            **{key["Name"]: key["Type"] for key in table["PartitionKeys"]},
        }
        for name, table in tables().items()
    }


def test_no_query_is_saved_before_its_work_group_exists() -> None:
    made = template()["Resources"]
    (workgroup,) = (name for name, r in made.items() if r["Type"] == "AWS::Athena::WorkGroup")
    saved = [r for r in made.values() if r["Type"] == "AWS::Athena::NamedQuery"]

    assert [r.get("DependsOn") for r in saved] == [[workgroup]] * len(ALL)


@pytest.mark.parametrize("key", TEXTS)
def test_a_query_names_tables_and_columns_of_the_catalog(key: str) -> None:
    # An alias beside its own definition is an error for Athena, so none is expanded here.
    qualify(_tree(key), dialect="athena", schema=_columns(), expand_alias_refs=False)


@pytest.mark.parametrize("key", TEXTS)
def test_no_name_in_a_query_is_a_reserved_word(key: str) -> None:
    names = {name.alias_or_name.upper() for name in _tree(key).find_all(exp.Alias, exp.CTE)}

    assert names & RESERVED == set()


@pytest.mark.parametrize("key", TEXTS)
def test_what_is_asked_for_is_chosen_in_one_place_at_the_top(key: str) -> None:
    tree = _tree(key)
    asked = next(cte for cte in tree.find_all(exp.CTE) if cte.alias == "request")

    chosen = [node for node in tree.find_all(exp.Where) if _reads(node, "dt", "cluster")]

    assert [node.parent for node in chosen] == [asked.this]
    scanned = {
        table.find_ancestor(exp.Select)
        for table in tree.find_all(exp.Table)
        if table.name in tables()
    }
    assert all(select in {asked.this, *_under(asked, tree)} for select in scanned)


@pytest.mark.parametrize("query", ALL, ids=lambda query: query.key)
def test_a_query_says_how_to_ask_for_one_name(query: Query) -> None:
    compared = [node for node in _tree(query.key).find_all(exp.EQ) if _reads(node, *NAMES)]

    assert not any(node.find(exp.Literal) for node in compared)
    assert "= 'name'" in query.description


@pytest.mark.parametrize("key", sorted(set(TEXTS) - WITHOUT_OLD_DAYS))
def test_a_query_says_which_table_holds_older_days_and_can_ask_it(key: str) -> None:
    (table,) = {t.name for t in _tree(key).find_all(exp.Table) if t.name in contract.DATASETS}
    (query,) = (query for query in ALL if query.key == key)

    assert f"history_{table}" in query.description
    older = query.text.replace(f"FROM {table}\n", f"FROM history_{table}\n")
    assert older != query.text
    tree = sqlglot.parse_one(older, read="athena")
    qualify(tree, dialect="athena", schema=_columns(), expand_alias_refs=False)


def test_an_older_day_is_answered_as_it_was(tmp_path: Path) -> None:
    story.tell_a_rebalance(tmp_path)
    athena = Athena(tmp_path, story.NOW)
    text = TEXTS["rebalances_by_hour"].replace("cluster LIKE '%'", f"cluster = '{SHOP}'")

    older = athena.rows(text.replace("FROM groups\n", "FROM history_groups\n"))

    assert older == athena.rows(text) != []


def test_every_saved_query_that_the_manual_sends_somebody_to_exists() -> None:
    named = set(re.findall(r"""saved query (['"])(.+?)\1""", MANUAL.read_text()))

    assert named
    assert {title for _, title in named} <= {query.title for query in ALL}


def test_rebalancing_states_are_the_contracts() -> None:
    states = ", ".join(f"'{state}'" for state in contract.REBALANCING_STATES)

    assert f"group_state IN ({states})" in TEXTS["rebalances_by_hour"]


def _reads(node: exp.Expression, *columns: str) -> bool:
    return any(column.name in columns for column in node.find_all(exp.Column))


def _under(asked: exp.CTE, tree: exp.Query) -> list[exp.Expression]:
    """The selects of what `asked` itself reads from."""
    sources = {table.name for table in asked.find_all(exp.Table)}
    return [
        select
        for cte in tree.find_all(exp.CTE)
        if cte.alias in sources
        for select in cte.find_all(exp.Select)
    ]
