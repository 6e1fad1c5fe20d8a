# SPDX-License-Identifier: Apache-2.0
"""What the functions read beside their code, templates above all, is in their package."""

from __future__ import annotations

from pathlib import Path
from zipfile import ZipFile

from kafka_lag_cdk.packaging import Target, build
from tests.infra.packaging.fakes import Index

ROOT = Path(__file__).parents[3]
SOURCES = ROOT / "functions"
TEMPLATES = SOURCES / "kafka_lag" / "views" / "templates"


def test_every_template_of_the_page_is_packed(tmp_path: Path) -> None:
    index = Index({"dep/__init__.py": ""})
    package = build(Target(), tmp_path, fetch=index.fetch)
    with ZipFile(package.path) as archive:
        packed = {name: archive.read(name) for name in archive.namelist()}
    found = [path for path in TEMPLATES.rglob("*") if path.is_file()]
    assert any(path.name.endswith(".j2") for path in found)
    for path in found:
        assert packed[path.relative_to(SOURCES).as_posix()] == path.read_bytes()
