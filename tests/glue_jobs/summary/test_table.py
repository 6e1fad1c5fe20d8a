# SPDX-License-Identifier: Apache-2.0
"""Cells under their names."""

from kafka_lag_report.summary.console.table import table


def test_words_stand_left_and_numbers_right() -> None:
    rows = [{"topic": "a", "lag": "1,200"}, {"topic": "orders", "lag": "-"}]

    assert table(rows).splitlines() == [
        "  topic     lag",
        "  a       1,200",
        "  orders      -",
    ]


def test_a_group_named_like_a_number_leaves_names_left() -> None:
    rows = [{"group": "007", "off": "+9"}, {"group": "orders", "off": "-11"}]

    assert table(rows).splitlines() == ["  group   off", "  007      +9", "  orders  -11"]


def test_wide_letters_and_accents_keep_the_columns_straight() -> None:
    rows = [
        {"group": "数据", "x": "1"},
        {"group": "e\u0301", "x": "2"},
        {"group": "abcd", "x": "3"},
    ]

    assert table(rows).splitlines() == [
        "  group  x",
        "  数据   1",
        "  e\u0301      2",
        "  abcd   3",
    ]


def test_no_rows_give_no_table() -> None:
    assert table([]) == ""
