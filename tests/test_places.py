"""Files for the places where people run and cite this: they name what exists, and agree."""

import json
import re
import tomllib
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
TARGETS = set(
    re.findall(r"^([a-z-]+):.*## ", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
)


def test_the_workflow_runs_both_commands_on_every_python():
    jobs = yaml.safe_load((ROOT / ".github" / "workflows" / "test.yml").read_text())["jobs"]
    classifiers = [line.rpartition(" ")[2] for line in PROJECT["classifiers"]]
    supported = [version for version in classifiers if re.fullmatch(r"3\.\d+", version)]
    assert jobs["test"]["strategy"]["matrix"]["python"] == supported
    steps = [step.get("run", "") for job in jobs.values() for step in job["steps"]]
    called = {step.split()[1] for step in steps if step.startswith("make ")}
    assert {"run", "test", "book", "browser-test"} <= called <= TARGETS


def test_the_container_is_set_up_by_a_target():
    text = (ROOT / ".devcontainer" / "devcontainer.json").read_text(encoding="utf-8")
    container = json.loads(re.sub(r"^//.*$", "", text, flags=re.MULTILINE))
    assert container["postCreateCommand"].split()[1] in TARGETS


def test_archives_are_told_what_the_package_says():
    zenodo = json.loads((ROOT / ".zenodo.json").read_text(encoding="utf-8"))
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert zenodo["title"] == citation["title"]
    assert zenodo["license"] == citation["license"] == PROJECT["license"]
    assert zenodo["keywords"] == citation["keywords"] == PROJECT["keywords"]
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"[{citation['version']}] - {citation['date-released']}" in changes


def test_korean_terms_are_marked_as_awaiting_a_reader():
    text = (ROOT / "book" / "glossary.rst").read_text(encoding="utf-8")
    assert len(re.findall(r"^      Korean: .*[\uac00-\ud7a3].*\.$", text, re.MULTILINE)) > 14
    assert re.search(r"await a native\s+reader", text)
