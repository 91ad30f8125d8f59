"""Tables as people have them: each is read, or refused with a remedy that works."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import cyclearn as cl
from command_line import run_cyclearn
from cyclearn.data import read_moments
from cyclearn.data.table_files import read_table_file
from cyclearn.foundation.errors import InputError, MatrixError

RNG = np.random.default_rng(0)
PLAIN = pd.DataFrame(RNG.standard_normal((40, 3)).round(3), columns=["a", "b", "k"])
TETRAD = "164\nABILITY GPQ PREPROD QFJ\n1.0\n .62 1.0\n .25 .09 1.0\n .16 .28 .07 1.0\n"


def written(path, table, **options):
    table.to_csv(path, index=False, **options)
    return path


def starred(symbol):
    table = PLAIN.astype(object)
    table.iloc[3, 0] = table.iloc[7, 1] = table.iloc[8, 1] = symbol
    return table


def test_signs_for_missing_values_are_proposed_once_for_the_table(tmp_path, capsys):
    path = written(tmp_path / "t.csv", starred("*"))
    with pytest.raises(InputError, match=r"2 columns have '\*' among numbers") as caught:
        cl.learn(path)
    assert "--missing-codes '*'" in str(caught.value)
    assert "drop" not in str(caught.value)
    refused = run_cyclearn(["check", path], capsys)
    assert refused.returncode == 2
    assert "try missing_codes=['*'] (--missing-codes '*')" in refused.stderr
    assert run_cyclearn(["check", path, "--missing-codes", "*"], capsys).returncode == 0
    # Other columns that cannot be used do not hide the signs.
    mixed = starred("*").assign(land=np.resize(["fr", "de", "it"], 40), id=range(40))
    with pytest.raises(InputError, match=r"try missing_codes=\['\*'\]") as caught:
        cl.learn(written(tmp_path / "m.csv", mixed))
    assert "1 column cannot be used as numbers: 'land'" in str(caught.value)
    assert "--categories land" in str(caught.value)
    # Words are not signs.
    with pytest.raises(InputError, match="contains text in"):
        cl.learn(written(tmp_path / "w.csv", starred("low")))


@pytest.mark.parametrize("symbol", ["?", ".", "-", "NULL", "n/a"])
def test_common_signs_are_missing_values(tmp_path, symbol):
    found = cl.read_table(written(tmp_path / "t.csv", starred(symbol)))
    assert int(found.isna().sum().sum()) == 3


@pytest.mark.parametrize("symbol", ["*", "?", "NULL"])
def test_signs_in_a_data_frame_have_a_remedy_that_works(symbol):
    table = starred(symbol)
    with pytest.raises(InputError, match="missing='em'") as caught:
        cl.learn(table)
    remedy = str(caught.value).split("convert it: data")[1].split(", and missing")[0]
    repaired = eval(f"table{remedy}", {"table": table})
    assert int(repaired.isna().sum().sum()) == 3


@pytest.mark.parametrize("as_array", [False, True])
def test_a_correlation_matrix_is_not_rows(as_array):
    matrix = PLAIN.corr()
    for function in (cl.learn, cl.posterior, cl.check_data, cl.bootstrap):
        with pytest.raises(MatrixError, match=r"cl\.Moments"):
            function(matrix.to_numpy() if as_array else matrix)
    assert cl.learn(cl.Moments(matrix, n_samples=40)).tables.n_samples == 40
    # As many rows as columns are no matrix.
    assert cl.check_data(PLAIN.iloc[:3]) is not None


def test_the_covariance_text_of_tetrad_is_read(tmp_path, capsys):
    path = tmp_path / "cites.cov.txt"
    path.write_text(TETRAD)
    found = read_moments(path)
    assert found.names == ("ABILITY", "GPQ", "PREPROD", "QFJ")
    assert found.n_samples == 164
    assert found.covariance[0].tolist() == [1.0, 0.62, 0.25, 0.16]
    assert (found.covariance == found.covariance.T).all()
    assert cl.learn(path) == cl.learn(found)
    assert read_moments(path, covariance=True, n_samples=100).n_samples == 100
    learned = run_cyclearn(["learn", path, "--no-posterior"], capsys)
    assert "4 variables, 164 samples" in learned.stdout
    with pytest.raises(MatrixError, match="read_moments"):
        cl.read_table(path)


def test_all_collinear_columns_are_named_at_once():
    table = PLAIN.assign(
        total=PLAIN["a"] + PLAIN["b"], twice=2 * PLAIN["k"], mean=(PLAIN["a"] + PLAIN["k"]) / 2
    )
    for function in (cl.learn, cl.check_data, cl.posterior):
        with pytest.raises(InputError) as caught:
            function(table)
        message = str(caught.value)
        assert "3 columns are exact linear functions of others" in message
        assert "'total' of 'a', 'b'" in message
        assert "drop 'total', 'twice', 'mean' (all of them)" in message
    assert cl.check_data(table.drop(columns=["total", "twice", "mean"])) is not None
    holes = table.copy()
    holes.iloc[::9, 0] = np.nan
    with pytest.raises(InputError, match="'twice' of 'k'"):
        cl.learn(holes, missing="em")
    with pytest.raises(InputError, match=r"'b' is constant \(also constant: 'k'\)"):
        cl.learn(PLAIN.assign(b=1, k=2))


def test_row_identifiers_are_left_out_and_named(tmp_path, capsys):
    order = RNG.permutation(40)
    table = PLAIN.assign(
        patient=[f"P{n:03d}" for n in order], number=order + 1, visit_id=1000 + 7 * order
    )
    found = read_table_file(written(tmp_path / "t.csv", table))
    assert list(found.frame) == ["a", "b", "k"]
    assert "'patient', 'number', 'visit_id'" in " ".join(found.notes)
    said = run_cyclearn(["check", tmp_path / "t.csv"], capsys).stdout
    assert "ignored as identifiers (a different value in every row)" in said
    asked = read_table_file(tmp_path / "t.csv", columns=["a", "number"])
    assert list(asked.frame) == ["a", "number"]
    dropped = read_table_file(tmp_path / "t.csv", drop=["patient", "number"])
    assert list(dropped.frame) == ["a", "b", "k"]
    counted = PLAIN.assign(ID=range(1, 41), case_id=range(40), year=range(1980, 2020))
    assert list(cl.read_table(written(tmp_path / "n.csv", counted))) == ["a", "b", "k", "year"]
    # Whole numbers that are measured, and few rows, name nothing.
    counts = PLAIN.assign(count=RNG.permutation(400)[:40] * 3)
    assert "count" in cl.read_table(written(tmp_path / "c.csv", counts))
    few = PLAIN.iloc[:6].assign(rank=[3, 1, 2, 6, 5, 4])
    assert "rank" in cl.read_table(written(tmp_path / "f.csv", few))


def test_a_table_of_one_column_is_refused(tmp_path, capsys):
    with pytest.raises(InputError, match="one column, 'a'"):
        cl.learn(PLAIN[["a"]])
    with pytest.raises(InputError, match="give a table"):
        cl.learn(PLAIN["a"])
    path = written(tmp_path / "t.csv", PLAIN[["a"]])
    for command in ("learn", "check"):
        assert "one column" in run_cyclearn([command, path], capsys).stderr


def test_a_file_without_names_works_by_the_remedy(tmp_path, capsys):
    path = written(tmp_path / "t.csv", PLAIN, header=False)
    with pytest.raises(InputError, match=r"cl.read_table\(path, header=False\), or --no-header"):
        cl.learn(path)
    table = cl.read_table(path, header=False)
    assert list(table) == ["X1", "X2", "X3"]
    assert len(table) == 40
    assert cl.learn(table).graph.names == ("X1", "X2", "X3")
    assert run_cyclearn(["learn", path, "--no-posterior"], capsys).returncode == 2
    learned = run_cyclearn(["learn", path, "--no-header", "--no-posterior"], capsys)
    assert "3 variables, 40 samples" in learned.stdout


def test_sheets_are_listed_and_chosen(tmp_path, capsys):
    path = tmp_path / "book.xlsx"
    with pytest.importorskip("pandas").ExcelWriter(path) as writer:
        PLAIN.to_excel(writer, sheet_name="first", index=False)
        PLAIN.rename(columns={"a": "z"}).to_excel(writer, sheet_name="second", index=False)
    found = read_table_file(path)
    assert found.sheets == ("first", "second")
    assert "sheet 'first' is read, and there are 'second'" in found.notes[0]
    assert list(cl.read_table(path, sheet="second")) == ["z", "b", "k"]
    assert list(cl.read_table(path, sheet=2)) == ["z", "b", "k"]
    with pytest.raises(InputError, match="there is no sheet 'third'; the sheets are first, second"):
        cl.read_table(path, sheet="third")
    assert "z" in run_cyclearn(["check", path, "--sheet", "second"], capsys).stdout


def test_knowledge_is_also_a_mapping():
    known = {"forbidden": [["a", "b"]], "exogenous": ["k"]}
    assert cl.learn(PLAIN, knowledge=known) == cl.learn(
        PLAIN, knowledge=cl.Knowledge(forbidden=[("a", "b")], exogenous=["k"])
    )
    with pytest.raises(InputError, match="has 'tears'"):
        cl.learn(PLAIN, knowledge={"tears": []})


def test_graphs_are_also_texts_of_edges():
    assert cl.compare("a -> b", "b -> a").equivalence
    assert cl.equivalent("a -> b, b -> c", "c -> b; b -> a")
    assert not cl.equivalent("a -> b -> c", "a -> b, c -> b")
    assert cl.markov_equivalent("a -> b", "b -> a")
    assert cl.equivalence_class("a -> b -> c").size == 3
    with pytest.raises(InputError, match="read_graph"):
        cl.equivalent("graph.json", "a -> b")


@pytest.mark.parametrize("function", [cl.learn, cl.posterior, cl.bootstrap, cl.check_data])
def test_a_seed_is_called_random_state(function):
    with pytest.raises(InputError, match="did you mean 'random_state'"):
        function(PLAIN, seed=1)
    with pytest.raises(InputError, match="did you mean 'random_state'"):
        cl.fit(cl.DirectedGraph.from_edges([("a", "b")], ["a", "b", "k"]), PLAIN, seed=1)


def test_a_seed_is_called_random_state_where_options_are_written_out():
    result = cl.learn(np.random.default_rng(0).normal(size=(50, 3)), n_starts=1)
    graph, model = result.graph, cl.LinearGaussianModel(np.zeros((2, 2)), [1, 1])
    for call in (
        lambda: cl.simulate.random_graph(3, seed=1),
        lambda: cl.simulate.random_model(graph, seed=1),
        lambda: cl.simulate.recovery(graph, seed=1),
        lambda: model.sample(5, seed=1),
        lambda: result.effects(0, 1, seed=1),
        lambda: result.do({0: 1.0}, seed=1),
        lambda: cl.next_experiment(result, seed=1),
        lambda: cl.project(graph, model, seed=1),
        lambda: cl.metrics.evaluate(graph, graph, seed=1),
    ):
        with pytest.raises(InputError, match="no option 'seed'; did you mean 'random_state'"):
            call()
    with pytest.raises(InputError, match="there is no option 'n_node'; did you mean 'n_nodes'"):
        cl.simulate.random_graph(n_node=3)


def test_json_of_check_has_exogenous(tmp_path, capsys):
    path = written(tmp_path / "t.csv", PLAIN)
    found = run_cyclearn(["check", path, "--exogenous", "k", "--json"], capsys)
    assert json.loads(found.stdout)["n_rows"] == 40


@pytest.mark.parametrize("n_rows", [2, 3, 40])
def test_two_texts_are_read_however_few_rows_there_are(tmp_path, n_rows):
    table = PLAIN.iloc[:n_rows].assign(smokes=np.resize(["yes", "no"], n_rows))
    found = cl.read_table(written(tmp_path / "t.csv", table))
    assert found["smokes"].tolist() == np.resize([1.0, 0.0], n_rows).tolist()
    if n_rows > 2:
        assert cl.check_data(table) is not None


def test_numbers_in_place_of_ordinal_columns_have_a_reason():
    rng = np.random.default_rng(0)
    common = rng.standard_normal(40)
    steps = {f"x{n}": common + 0.5 * rng.standard_normal(40) > n / 4 - 0.8 for n in range(7)}
    (warning,) = (
        each for each in cl.check_data(pd.DataFrame(steps)) if each.code == "ordinal_columns"
    )
    assert "jointly impossible unless all are shrunk by" in warning.message
    assert warning.shrinkage > 0.01
    assert "merge rare levels, drop a column" in warning.remedy
    (other,) = (
        each
        for each in cl.check_data(pd.DataFrame(steps).astype(float), margins="rank")
        if each.code == "ordinal_columns"
    )
    assert "impossible" not in other.message
    assert other.shrinkage == 0


def test_columns_of_few_values_are_ordinal_in_pairwise_covariances_too():
    table = PLAIN.assign(smokes=np.resize([0.0, 1.0], 40))
    table.iloc[::7, 0] = np.nan
    found = cl.fit(
        cl.DirectedGraph.from_edges([("smokes", "a")], list(table)), table, missing="pairwise"
    )
    assert found.ordered == ("smokes",)
    assert found.sandwich is not None
    assert found.standard_errors[3, 0] > 0


def test_identifiers_in_a_data_frame_are_named():
    rng = np.random.default_rng(0)
    table = PLAIN.assign(patient=rng.permutation(len(PLAIN)) + 1000)
    (found,) = (each for each in cl.check_data(table) if each.code == "row_numbers")
    assert found.columns == ("patient",)
    assert "patient numbers the rows" in found.message
    named = PLAIN.assign(who=[f"p{i}" for i in range(len(PLAIN))])
    with pytest.raises(InputError, match=r"'who'.* is not numeric.*drop it or encode") as e:
        cl.learn(named)
    # With so many levels it cannot be a category.
    assert "categories" not in str(e.value)


def test_a_column_is_not_ordered_and_continuous():
    with pytest.raises(InputError, match="'k' is both ordered and continuous"):
        cl.learn(PLAIN, ordered=["k"], continuous=["k"])
