import pickle

import numpy as np
import pandas as pd
import pytest

from cyclearn.data import Moments, as_moments, read_moments
from cyclearn.foundation.errors import InputError

RNG = np.random.default_rng(0)
TABLE = pd.DataFrame(RNG.standard_normal((30, 3)) + 5, columns=["a", "b", "c"])


def test_moments_of_a_table_an_array_and_moments():
    moments = as_moments(TABLE)
    np.testing.assert_allclose(moments.covariance, np.cov(TABLE.T, ddof=0))
    np.testing.assert_allclose(moments.mean, TABLE.mean())
    assert moments.names == ("a", "b", "c")
    assert moments.n_samples == 30
    array = as_moments(TABLE.to_numpy())
    np.testing.assert_array_equal(array.covariance, moments.covariance)
    assert array.names == ("X1", "X2", "X3")
    assert as_moments(TABLE.to_numpy(), ["u", "v", "w"]).names == ("u", "v", "w")
    assert as_moments(moments) is moments
    assert as_moments(TABLE.astype("float32")).covariance.dtype == np.float64
    assert as_moments((TABLE * 10).astype(int)).n_samples == 30
    np.testing.assert_allclose(np.diag(moments.correlation), 1)


def test_moments_are_immutable_and_survive_pickling():
    moments = as_moments(TABLE)
    with pytest.raises(ValueError, match="read-only"):
        moments.covariance[0, 0] = 2
    with pytest.raises(AttributeError, match="immutable"):
        moments.n_samples = 3
    again = pickle.loads(pickle.dumps(moments))
    np.testing.assert_array_equal(again.covariance, moments.covariance)
    assert again.names == moments.names
    assert "30 samples" in repr(moments)


def test_a_covariance_as_a_table_brings_its_names():
    moments = Moments(TABLE.cov(ddof=0), 30)
    assert moments.names == ("a", "b", "c")
    assert moments.mean is None


@pytest.mark.parametrize("suffix", [".csv", ".tsv"])
def test_moments_of_a_file(tmp_path, suffix):
    path = tmp_path / f"table{suffix}"
    TABLE.to_csv(path, sep="," if suffix == ".csv" else "\t", index=False)
    np.testing.assert_allclose(read_moments(path).covariance, as_moments(TABLE).covariance)
    assert as_moments(str(path)).names == ("a", "b", "c")


def test_moments_of_a_parquet_file(tmp_path):
    pytest.importorskip("pyarrow")
    path = tmp_path / "table.parquet"
    TABLE.to_parquet(path)
    assert read_moments(path).names == ("a", "b", "c")


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        read_moments(tmp_path / "none.csv")
    with pytest.raises(InputError, match="unknown kind"):
        read_moments(tmp_path / "table.sav")
    (tmp_path / "empty.csv").write_text("")
    with pytest.raises(InputError, match="not a table"):
        read_moments(tmp_path / "empty.csv")
    (tmp_path / "twice.csv").write_text("a,a\n1,2\n3,5\n4,4\n")
    with pytest.raises(InputError, match="'a' appears twice"):
        read_moments(tmp_path / "twice.csv")
    (tmp_path / "header.csv").write_text("a,b\n")
    with pytest.raises(InputError):
        read_moments(tmp_path / "header.csv")
    (tmp_path / "ragged.csv").write_text("a,b\n1,2,3\n4,5,7\n")
    with pytest.raises(InputError, match="2 names"):
        read_moments(tmp_path / "ragged.csv")


def with_values(**columns):
    table = TABLE.copy()
    for name, values in columns.items():
        table[name] = values
    return table


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (with_values(b=1.5), "'b' is constant.*drop it"),
        (with_values(b=0.1 + 1e-17), "'b' is constant"),
        (with_values(b=1e-300 * TABLE["a"]), "'b' has values so small.*rescale"),
        (with_values(c=TABLE["a"] - 2 * TABLE["b"] + 1), "'c' is an exact linear.*'a', 'b'"),
        (with_values(c=TABLE["b"] * 1e9), "'c' is an exact linear function of 'b'"),
        (with_values(b=[np.nan] + [1.0, 2.0] * 14 + [0.0]), "'b'.*missing value in row 0"),
        (with_values(b=[1.0, np.inf] * 15), "'b'.*infinite value in row 1"),
        (with_values(b=["x"] * 30), "'b'.*not numeric.*'x'"),
        (with_values(b=[None] + [1.0, 2.0] * 14 + [0.0]), "'b'.*missing value"),
        (with_values(b=pd.Timestamp("2020-01-01")), "'b'.*not numeric"),
        (TABLE.set_axis(["a", "b", "a"], axis=1), "'a' appears twice"),
        (TABLE.iloc[:1], "1 row; a covariance needs at least 3"),
        (TABLE.iloc[:, :0], "shape"),
        (np.ones(3), "shape"),
        (np.array([["a", "b"], ["c", "d"]]), "'X1'.*not numeric"),
    ],
)
def test_bad_tables_name_the_column_and_the_remedy(table, message):
    with pytest.raises(InputError, match=message):
        as_moments(table)


def test_mixed_scales_are_not_mistaken_for_collinearity():
    scaled = TABLE * np.array([1e-8, 1.0, 1e8])
    np.testing.assert_allclose(
        as_moments(scaled).correlation, as_moments(TABLE).correlation, rtol=1e-9
    )


@pytest.mark.parametrize(
    ("covariance", "message"),
    [
        ([[1.0, 0.2], [0.3, 1.0]], r"not symmetric: entry \(a, b\)"),
        ([[1.0, 2.0], [2.0, 1.0]], "not positive definite.*eigenvalue"),
        ([[1.0, 1.0], [1.0, 1.0]], "'b' is an exact linear function of 'a'"),
        ([[0.0, 0.0], [0.0, 1.0]], "'a' has variance 0"),
        ([[1.0, np.nan], [np.nan, 1.0]], "missing"),
        ([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], "square|names"),
    ],
)
def test_bad_covariances_are_named(covariance, message):
    with pytest.raises(InputError, match=message):
        Moments(covariance, 100, names=["a", "b"])


def test_bad_sample_sizes_means_and_names():
    for n in (1, 0, -3, 2.5, True, "ten", None):
        with pytest.raises(InputError, match="n_samples"):
            Moments(np.eye(2), n)
    with pytest.raises(InputError, match="mean has shape"):
        Moments(np.eye(2), 10, mean=[1.0])
    with pytest.raises(InputError, match="mean of column 'X2'"):
        Moments(np.eye(2), 10, mean=[1.0, np.inf])
    with pytest.raises(InputError, match="3 names for 2"):
        Moments(np.eye(2), 10, names=["a", "b", "c"])
    with pytest.raises(InputError, match="list of names"):
        Moments(np.eye(2), 10, names="ab")


def test_few_samples_may_be_singular_but_not_indefinite():
    X = RNG.standard_normal((4, 6))
    assert as_moments(X).n_samples == 4
    X[:, 5] = X[:, 0]
    with pytest.raises(InputError, match="'X6' is an exact linear function of 'X1'"):
        as_moments(X)
    with pytest.raises(InputError, match="not positive definite"):
        Moments([[1.0, 0.9, -0.9], [0.9, 1.0, 0.9], [-0.9, 0.9, 1.0]], 3)
