# SPDX-License-Identifier: Apache-2.0
"""The list of groups: as many as the page has room for, and always the worst."""

import json

from kafka_lag_report.findings import Listed
from kafka_lag_report.page.sections import COLUMNS, REST_BYTES, STATIC_ROWS, list_groups
from tests.glue_jobs.page.pages import NASTY, calm, of, page


def test_the_rest_is_found_by_search_with_the_same_cells() -> None:
    made = list_groups(
        page(groups=of(*(calm(f"g{number}") for number in range(STATIC_ROWS + 2)))).findings
    )

    rest = json.loads(made.rest)
    assert [row[0] for row in rest] == [f"g{STATIC_ROWS}", f"g{STATIC_ROWS + 1}"]
    assert {len(row) for row in (*rest, *made.rows)} == {4 + len(COLUMNS)}


def test_each_number_stands_below_its_title() -> None:
    day = calm(
        time_lag_p95=30.0,
        time_lag_max=40.0,
        sla_compliance=0.5,
        err_minutes=6.0,
        unknown_minutes=7.0,
        lag_max=8_000.0,
        produce_rate=9.5,
        catch_up_capacity=1.5,
    )

    (row,) = list_groups(page(groups=of(day)).findings).rows

    texts = [text.replace("\u00a0", " ") for text in row[4:]]
    assert dict(zip((column.title for column in COLUMNS), texts, strict=True)) == {
        "Time lag p95": "30 s",
        "Time lag max": "40 s",
        "SLA met": "50%",
        "In error": "6 min",
        "Unknown": "7 min",
        "Most behind": "8,000",
        "Produced": "9.5/s",
        "Catch-up": "1.5\u00d7",
    }


def test_groups_without_room_are_counted() -> None:
    days = [calm("x" * 119 + str(number)) for number in range(9_000)]

    made = list_groups(page(groups=Listed(tuple(days), 9_500)).findings)

    assert len(made.rest) <= REST_BYTES
    assert made.left_out == 9_500 - STATIC_ROWS - made.searchable > 0


def test_no_name_ends_the_script_block() -> None:
    names = [NASTY, "<!--", "]]>", "\u2028", "&lt;"]
    days = [*(calm() for _ in range(STATIC_ROWS)), *(calm(name) for name in names)]

    made = list_groups(page(groups=of(*days)).findings)

    assert not set("<>&\u2028") & set(str(made.rest))
    assert [row[0] for row in json.loads(made.rest)] == [NASTY, "<!--", "]]>", "\\u2028", "&lt;"]
