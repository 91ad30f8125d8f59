import json

import pytest


@pytest.fixture
def files(cyclearn):
    made = cyclearn(
        "simulate", "-p", 5, "--seed", 4, "-n", 800, "--data", "d.csv", "--model", "m.json",
        "--out", "g.json",
    )  # fmt: skip
    assert (made.returncode, made.stderr) == (0, "")


@pytest.mark.usefixtures("files")
def test_learn(cyclearn, tmp_path):
    first = cyclearn("learn", "d.csv", "--no-posterior", "--out", "r.json")
    assert (first.returncode, first.stderr) == (0, "")
    assert "5 variables, 800 samples" in first.stdout
    record = json.loads((tmp_path / "r.json").read_text())
    printed = json.loads(cyclearn("learn", "d.csv", "--no-posterior", "--json").stdout)
    assert printed["graph"] == record["graph"]
    assert printed["schema_version"] == 2
    assert cyclearn("learn", "d.csv", "--no-posterior", "--out", "r.dot").returncode == 0
    assert (tmp_path / "r.dot").read_text().startswith("digraph")
    (tmp_path / "k.json").write_text('{"forbidden": [["X1", "X2"]], "exogenous": ["X3"]}')
    known = cyclearn(
        "learn", "d.csv", "--knowledge", "k.json", "--json", "--max-component", 2, "--no-posterior"
    )
    edges = json.loads(known.stdout)["graph"]["edges"]
    assert ["X1", "X2"] not in edges
    assert not any(target == "X3" for _, target in edges)


@pytest.mark.usefixtures("files")
def test_learn_with_resamples(cyclearn, tmp_path):
    options = ("--method", "hill-climbing", "--bootstrap", 3, "--checkpoint", "c.jsonl")
    first = cyclearn("learn", "d.csv", "--no-posterior", *options)
    assert (first.returncode, first.stderr) == (0, "")
    assert "Bootstrap: 3 resamples of the rows" in first.stdout
    assert len((tmp_path / "c.jsonl").read_text().splitlines()) == 4
    other = cyclearn("learn", "d.csv", *options, "--penalty", "2 bic")
    assert other.returncode == 2
    assert "other settings (penalty)" in other.stderr


@pytest.mark.usefixtures("files")
def test_fit(cyclearn):
    result = cyclearn("fit", "d.csv", "g.json")
    assert result.returncode == 0
    assert "chi-square" in result.stdout
    record = json.loads(cyclearn("fit", "d.csv", "g.json", "--json").stdout)
    assert record["command"] == "fit"
    swapped = cyclearn("fit", "g.json", "d.csv")
    assert swapped.returncode == 2
    assert "g.json contains a graph, not a table; the table is the first" in swapped.stderr


@pytest.mark.usefixtures("files")
def test_the_level_is_that_of_the_table_too(cyclearn):
    record = json.loads(cyclearn("fit", "d.csv", "g.json", "--level", 0.5, "--json").stdout)
    interval = record["parameters"][0]
    printed = cyclearn("fit", "d.csv", "g.json", "--level", 0.5).stdout
    line = next(line for line in printed.splitlines() if line.startswith(interval["parameter"]))
    lower, upper = map(float, line.split()[-2:])
    assert lower == pytest.approx(interval["lower"], abs=1e-4)
    assert upper == pytest.approx(interval["upper"], abs=1e-4)


@pytest.mark.usefixtures("files")
def test_simulate_on_a_given_graph_is_repeatable(cyclearn, tmp_path):
    for name in ("a.tsv", "b.tsv"):
        made = cyclearn(
            "simulate", "--graph", "g.json", "-n", 10, "--data", name, "--seed", 1, "--json"
        )
        assert json.loads(made.stdout)["graph"] == json.loads((tmp_path / "g.json").read_text())
    assert (tmp_path / "a.tsv").read_text() == (tmp_path / "b.tsv").read_text()


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    "arguments",
    [
        ("learn", "absent.csv"),
        ("learn", "g.json"),
        ("learn", "d.csv", "--penalty", "aic"),
        ("learn", "d.csv", "--knowledge", "g.json"),
        ("learn", "d.csv", "--out", "no/such/folder/r.json"),
        ("fit", "d.csv", "absent.json"),
        ("simulate", "--samples", "5"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(refused, arguments):
    refused(*arguments)


@pytest.mark.usefixtures("files")
def test_posterior(cyclearn, refused, tmp_path):
    options = ("posterior", "d.csv", "--effective-size", 20, "--max-component", 2)
    options += ("--n-effective", 30)
    made = cyclearn(*options, "--out", "p.json")
    assert (made.returncode, made.stderr) == (0, "")
    assert "Probabilities, given these data" in made.stdout
    record = json.loads((tmp_path / "p.json").read_text())
    printed = json.loads(cyclearn(*options, "--json").stdout)
    assert printed["edges"] == record["edges"]
    refused("posterior", "d.csv", "--penalty", "what")
    refused("posterior", "d.csv", "--groups", "what")
    refused("posterior", "d.csv", "--out", "d.csv")
