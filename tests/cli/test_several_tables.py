"""Several files, or a column that names groups, on the command line."""

import json

import numpy as np
import pandas as pd
import pytest

import cyclearn as cl

GRAPH = cl.DirectedGraph.from_edges([("a", "c"), ("b", "c")])


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tables = []
    for name, weight in (("one", 0.8), ("two", -0.5)):
        B = np.zeros((3, 3))
        B[0, 2], B[1, 2] = weight, 0.6
        model = cl.LinearGaussianModel(B, np.ones(3), ["a", "b", "c"])
        table = model.sample(300, random_state=len(tables))
        table.to_csv(f"{name}.csv", index=False)
        tables.append(table.assign(site=name))
    pd.concat(tables).to_csv("all.csv", index=False)
    cl.write_graph(GRAPH, "graph.json")
    return tmp_path


def test_files_and_columns_are_groups(cyclearn, folder):
    quickly = ("--starts", 1, "--no-posterior")
    files = json.loads(cyclearn("learn", "one.csv", "two.csv", *quickly, "--json").stdout)
    column = json.loads(cyclearn("learn", "all.csv", "--groups", "site", *quickly, "--json").stdout)
    assert files["graph"] == column["graph"]
    groups = [[table["group"] for table in each["tables"]] for each in (files, column)]
    assert groups == [["one", "two"]] * 2
    fitted = cyclearn("fit", "one.csv", "two.csv", "graph.json")
    assert fitted.returncode == 0
    assert "FittedGroups(2 groups" in fitted.stdout
    assert "a -> c" in cyclearn("fit", "all.csv", "graph.json", "--groups", "site").stdout
    cyclearn("report", "one.csv", "two.csv", *quickly, "-o", "page.html")
    assert "one.csv, two.csv" in (folder / "page.html").read_text()


@pytest.mark.usefixtures("folder")
def test_targets_may_be_unknown(cyclearn):
    unknown = ("--interventions", "unknown", "--json")
    files = json.loads(cyclearn("learn", "one.csv", "two.csv", *unknown).stdout)
    column = json.loads(cyclearn("learn", "all.csv", "--groups", "site", *unknown).stdout)
    assert files["graph"] == column["graph"]
    groups = [
        [(table["group"], table["targets"]) for table in each["tables"]] for each in (files, column)
    ]
    assert groups[0] == groups[1]
    assert groups[0][0] == ("one", [])
    assert (
        "Targets, with probabilities"
        in cyclearn("learn", "one.csv", "two.csv", *unknown[:2]).stdout
    )


@pytest.mark.usefixtures("folder")
def test_a_column_of_several_files_is_refused(cyclearn):
    refused = cyclearn("learn", "all.csv", "all.csv", "--groups", "site")
    assert refused.returncode == 2
    assert "give one file" in refused.stderr
