# SPDX-License-Identifier: Apache-2.0
"""Two folders of answers held together, value by value, whatever the order of rows and keys.

Each file becomes a document of nested mappings. A key that is a text says *what* a value is, and a
key that is a tuple says *where* it is, so that what differs alike everywhere is one group.
"""

from __future__ import annotations

import difflib
import io
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import pyarrow as pa
import pyarrow.parquet as pq

KINDS = ("emf", "parquet", "http", "messages", "reports", "templates")
# Columns that say whose row it is, as far as a table has them.
_KEYS = (
    *("cluster", "dt", "dataset", "consumer_group", "topic", "partition_id", "leader", "hour"),
    *("measure", "member_id", "client_id", "client_host"),
)
# Begins a Parquet file.
_PARQUET = b"PAR1"
_WIDTH = 160


class _Absent:
    def __repr__(self) -> str:
        return "(absent)"


ABSENT = _Absent()
Steps: TypeAlias = tuple[str, ...]


class Difference(NamedTuple):
    """One value: `what` is alike in all of a group, `where` is this one's place."""

    kind: str
    what: str
    where: str
    old: Any
    new: Any


def differences(old: Path, new: Path) -> Iterator[Difference]:
    """All of two folders as a probe leaves them."""
    files, others = _files(old), _files(new)
    for name in sorted(files.keys() | others.keys()):
        pair = [found.get(name, []) for found in (files, others)]
        data = [
            [_without(root, path.read_bytes()) for path in paths]
            for root, paths in zip((old, new), pair, strict=True)
        ]
        if data[0] != data[1]:
            kind = _kind(name)
            one, other = (_document(kind, name, each) if each else ABSENT for each in data)
            yield from _walk(kind, one, other, (), (name,))


def lines(found: Iterable[Difference], few: int) -> Iterator[str]:
    """Differences for people: a line a group, and a line each of its first `few`."""
    groups: dict[tuple[str, str], list[Difference]] = {}
    counts: Counter[tuple[str, str]] = Counter()
    for each in found:
        counts[each[:2]] += 1
        if counts[each[:2]] <= few:
            groups.setdefault(each[:2], []).append(each)
    for (kind, what), shown in sorted(groups.items()):
        count = counts[kind, what]
        yield f"{kind}: {_safe(what)}: {count:,} difference{'s' if count > 1 else ''}"
        for each in shown:
            yield f"  {_safe(each.where)}: {_safe(repr(each.old))} -> {_safe(repr(each.new))}"


def _files(folder: Path) -> dict[str, list[Path]]:
    """By name; Parquet of a folder is one table, as Spark's own names are different each time."""
    found: dict[str, list[Path]] = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.name.startswith((".", "_")):
            name = path.relative_to(folder)
            spark = path.suffix == ".parquet" and path.name.startswith("part-")
            found.setdefault(str(name.parent if spark else name), []).append(path)
    return found


def _without(root: Path, data: bytes) -> bytes:
    """Where a commit's answers lie is no difference."""
    return data if data[:4] == _PARQUET else data.replace(str(root).encode(), b"(out)")


def _kind(name: str) -> str:
    first, *rest = Path(name).parts
    if first != "store":
        return first
    return "reports" if rest[0] in ("reports", "history") else "parquet"


def _document(kind: str, name: str, data: list[bytes]) -> Any:
    if data[0][:4] == _PARQUET:
        return _table(kind, name, data)
    text = b"".join(data).decode(errors="backslashreplace")
    if kind == "emf" and name.endswith(".jsonl"):
        return _metrics(text)
    if not name.endswith(".json"):
        return {Path(name).name: text}
    document = json.loads(text)
    if kind == "http":
        request = document.pop("request")
        route = "/".join(request["path"].partition("?")[0].split("/")[:2])
        return {route: {(str(request),): {**document, "body": _opened(document.get("body"))}}}
    if kind == "templates":
        return _template(document)
    return document


def _table(kind: str, name: str, data: list[bytes]) -> Any:
    tables = [pq.ParquetFile(io.BytesIO(each)).read() for each in data]
    table = pa.concat_tables(tables, promote_options="permissive")
    # Reports' history has the rows of many runs, for which only their time differs.
    keys = [key for key in (*_KEYS, "taken_at") if key in table.column_names]
    keys = keys if "history/" in name else [key for key in keys if key != "taken_at"]
    if kind == "parquet":
        keys = [key for key in keys if key in ("consumer_group", "topic", "partition_id")]
    rows: dict[Any, Any] = {}
    seen: Counter[Any] = Counter()
    for row in table.to_pylist():
        key = tuple(f"{each}={row.pop(each)!r}" for each in keys)
        seen[key] += 1
        rows[(*key, *([f"again {seen[key]}"] if seen[key] > 1 else []))] = row
    types = {
        each.name: str(each.type.value_type if pa.types.is_dictionary(each.type) else each.type)
        for each in table.schema
    }
    metadata = table.schema.metadata or {}
    own = {k.decode(): v.decode() for k, v in metadata.items() if k.startswith(b"kafka_lag")}
    folder, *rest = Path(name).parts[1:]
    known = folder in ("snapshots", "reports", "history")
    return {
        rest[0] if known else folder: {
            "type of": types,
            "order": ", ".join(types),
            "metadata": own,
            "": rows,
        }
    }


def _metrics(text: str) -> Any:
    """Lines by their dimensions; a metric is its value, its unit and the set that it is in."""
    found: dict[Any, Any] = {}
    for line in filter(None, text.split("\n")):
        entry = json.loads(line)
        about = entry.pop("_aws")
        sets = about.pop("CloudWatchMetrics", [])
        names: list[str] = next((e["Dimensions"][0] for e in sets if e["Dimensions"]), [])
        at = found.setdefault(tuple(f"{name}={entry.get(name)!r}" for name in names), {})
        values = {}
        for each in sets:
            for metric in each.pop("Metrics"):
                name = metric.pop("Name")
                values[name] = {"value": entry.pop(name, ABSENT), **metric, "set": each}
        for name, value in {**values, **entry, "_aws": about}.items():
            # What is said twice of one group is held together in its order.
            while name in at:
                name += " again"  # noqa: PLW2901
            at[name] = value
    return found


def _template(document: Any) -> Any:
    resources: dict[str, Any] = {}
    for name, resource in document.pop("Resources", {}).items():
        resources.setdefault(resource.get("Type", ""), {})[(name,)] = resource
    return {**document, "Resources": resources}


def _opened(value: Any) -> Any:
    """A text of JSON as what it says."""
    if isinstance(value, str) and value[:1] in ("{", "["):
        try:
            return json.loads(value)
        except ValueError:
            return value
    return value


def _walk(kind: str, old: Any, new: Any, what: Steps, where: Steps) -> Iterator[Difference]:
    if isinstance(old, str) and isinstance(new, str):
        first, second = _opened(old), _opened(new)
        if type(first) is type(second):
            old, new = first, second
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for key in dict.fromkeys((*old, *new)):
            pair = old.get(key, ABSENT), new.get(key, ABSENT)
            if isinstance(key, tuple):
                yield from _walk(kind, *pair, what, (*where, *key))
            else:
                yield from _walk(kind, *pair, (*what, key) if key else what, where)
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for at, pair in enumerate(zip(old, new, strict=True)):
            yield from _walk(kind, *pair, what, (*where, str(at)))
    elif isinstance(old, str) and isinstance(new, str) and "\n" in old + new:
        yield from _text(kind, old, new, what, where)
    # Of one type as well: 1 is neither true nor 1.0; and NaN is NaN.
    elif repr(old) != repr(new):
        yield Difference(kind, ".".join(what), ", ".join(where), old, new)


def _text(kind: str, old: str, new: str, what: Steps, where: Steps) -> Iterator[Difference]:
    """Each run of lines that differs, as one."""
    one, other = old.splitlines(keepends=True), new.splitlines(keepends=True)
    for tag, i, j, k, m in difflib.SequenceMatcher(None, one, other, autojunk=False).get_opcodes():
        if tag != "equal":
            pair = "".join(one[i:j]), "".join(other[k:m])
            yield Difference(kind, ".".join(what), ", ".join((*where, f"line {i + 1}")), *pair)


def _safe(text: str) -> str:
    """On one line, and without what a terminal would act upon."""
    safe = "".join(each if each.isprintable() else repr(each)[1:-1] for each in text)
    return safe if len(safe) <= _WIDTH else f"{safe[:_WIDTH]}… ({len(text):,} characters)"
