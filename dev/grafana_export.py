# SPDX-License-Identifier: Apache-2.0
"""`python -m dev.grafana_export FILE...` puts dashboards exported from Grafana into docs/grafana.

Left out is what belongs to the Grafana that they were edited in: numbers, versions and the choices
at the top. Keys are sorted, so that a diff shows what was changed and nothing else.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[1] / "docs" / "grafana"

_OF_AN_EXPORT = {"__elements", "__inputs", "__requires", "iteration", "pluginVersion", "version"}
_ALL = {"selected": True, "text": ["All"], "value": ["$__all"]}
# Of the datasource; without it Grafana would take the first by name.
_DEFAULT_REGION = {"selected": True, "text": "default", "value": "default"}


def tidy(exported: str) -> str:
    """The document as it is kept. Raises ValueError where it is no JSON."""
    document = _without(json.loads(exported), _OF_AN_EXPORT)
    document["id"] = None
    for variable in document["templating"]["list"]:
        region = _DEFAULT_REGION if variable["name"] == "region" else {}
        variable["current"] = _ALL if variable.get("includeAll") else region
        if variable["type"] in ("datasource", "query"):
            variable["options"] = []
    return json.dumps(document, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def _without(value: Any, keys: set[str]) -> Any:
    if isinstance(value, dict):
        return {key: _without(each, keys) for key, each in value.items() if key not in keys}
    return [_without(each, keys) for each in value] if isinstance(value, list) else value


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m dev.grafana_export", description=__doc__)
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    for file in parser.parse_args().files:
        text = tidy(file.read_text())
        path = FOLDER / f"{json.loads(text)['uid']}.json"
        path.write_text(text)
        print(path)


if __name__ == "__main__":
    main()
