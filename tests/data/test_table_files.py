"""Awkward small files, each with what must come of it."""

import bz2
import gzip
import lzma
import zipfile

import numpy as np
import pandas as pd
import pytest

import cyclearn as cl
from cyclearn.data import as_moments, read_moments, read_table
from cyclearn.data.table_files import read_table_file
from cyclearn.foundation.errors import InputError

NAN = np.nan
AB = {"a": [1.5, 2.0, -3.0], "b": [2.0, 4.5, 0.25]}
PLAIN = "a,b\n1.5,2\n2,4.5\n-3,0.25\n"
EUROPEAN = "a;b\n1,5;2\n2;4,5\n-3;0,25\n"
ROWS = "id,a,b\n" + "".join(f"{i},{(i * 7) % 5},{(i * 3) % 7}\n" for i in range(1, 9))
ROW_COLUMNS = {
    "a": [(i * 7) % 5 for i in range(1, 9)],
    "b": [(i * 3) % 7 for i in range(1, 9)],
}
SQUARE = "a,b,c\n1,0.5,0.2\n0.5,1,0.1\n0.2,0.1,1\n"

# Name: file name, content, options, and the columns that must come of it or words of the error.
FILES = {
    "plain": ("t.csv", PLAIN, {}, AB),
    "tabs": ("t.tsv", PLAIN.replace(",", "\t"), {}, AB),
    "tabs in a text": ("t.txt", PLAIN.replace(",", "\t"), {}, AB),
    "tabs in a .tab": ("t.tab", PLAIN.replace(",", "\t"), {}, AB),
    "tabs in a csv": ("t.csv", PLAIN.replace(",", "\t"), {}, AB),
    "bars": ("t.csv", PLAIN.replace(",", "|"), {}, AB),
    "commas in a text": ("t.txt", PLAIN, {}, AB),
    "commas in a tsv": ("t.tsv", PLAIN, {}, AB),
    "spaces": ("t.txt", "a   b\n 1.5  2\n2    4.5\n-3   0.25\n", {}, AB),
    "spaces in a .dat": ("t.dat", PLAIN.replace(",", " "), {}, AB),
    "semicolons": ("t.csv", PLAIN.replace(",", ";"), {}, AB),
    "semicolons and decimal commas": ("t.csv", EUROPEAN, {}, AB),
    "said to be so": ("t.csv", EUROPEAN, {"sep": ";", "decimal": ","}, AB),
    "tabs and decimal commas": ("t.tsv", EUROPEAN.replace(";", "\t"), {}, AB),
    "quoted decimal commas": ("t.csv", 'a,b\n"1,5",2\n2,"4,5"\n-3,"0,25"\n', {}, AB),
    "decimal commas denied": (
        "t.csv",
        EUROPEAN,
        {"decimal": "."},
        "contains text.*'1,5' in line 2",
    ),
    "points for thousands": ("t.csv", "a;b\n1.234,5;1\n2;3\n", {}, {"a": [1234.5, 2], "b": [1, 3]}),
    "commas for thousands": (
        "t.csv",
        'a,b\n"1,234.5",1\n2,3\n',
        {},
        {"a": [1234.5, 2], "b": [1, 3]},
    ),
    "exponents": ("t.csv", "a,b\n1e3,2\n2E-1,3\n", {}, {"a": [1000, 0.2], "b": [2, 3]}),
    "a name with the separator": (
        "t.csv",
        'a,"b, c"\n1,2\n3,5\n',
        {},
        {"a": [1, 3], "b, c": [2, 5]},
    ),
    "a name with another separator": (
        "t.csv",
        "a;b, in kg\n1;2\n3;5\n",
        {},
        {"a": [1, 3], "b, in kg": [2, 5]},
    ),
    "a name over two lines": (
        "t.csv",
        '"a\nin kg",b\r\n1,2\n3,5\n',
        {},
        {"a in kg": [1, 3], "b": [2, 5]},
    ),
    "a quote that never ends": ("t.csv", 'a,b 5"\n1,2\n3,5\n', {}, {"a": [1, 3], 'b 5"': [2, 5]}),
    "a line of units, said as text": (
        "t.csv",
        "a,b\n[mV],s\n1,2\n3,5\n",
        {},
        r"2 columns cannot be used as numbers.*'\[mV\]' in line 2",
    ),
    "a minus of typesetting": (
        "t.csv",
        "a\N{MINUS SIGN}1,b\n\N{MINUS SIGN}1.5,2\n3,\N{MINUS SIGN}5\n",
        {},
        {"a\N{MINUS SIGN}1": [-1.5, 3], "b": [2, -5]},
    ),
    "points for thousands, said so": (
        "t.csv",
        "a;b\n1.234;1\n2;3\n",
        {"decimal": ","},
        {"a": [1234, 2], "b": [1, 3]},
    ),
    "half of a matrix": (
        "t.csv",
        "a,b,c\n1,,\n0.5,1,\n0.2,0.1,1\n",
        {},
        "upper half is empty.*--covariance --n",
    ),
    "a title": ("t.csv", "My data\na,b,c\n1,2,3\n3,5,4\n", {}, "has 1 name .*lines above the"),
    "percent": ("t.csv", "a,b\n1.5%,2\n3%,5\n", {}, "'a' contains numbers with a symbol.*'1.5%'"),
    "money": ("t.csv", 'a,b\n$3,2\n"-$1,200",5\n', {}, "with a symbol or unit.*remove the"),
    "windows lines": ("t.csv", PLAIN.replace("\n", "\r\n"), {}, AB),
    "old macintosh lines": ("t.csv", PLAIN.replace("\n", "\r"), {}, AB),
    "no last newline": ("t.csv", PLAIN.rstrip("\n"), {}, AB),
    "byte-order mark": ("t.csv", PLAIN.encode("utf-8-sig"), {}, AB),
    "utf-16": ("t.csv", PLAIN.encode("utf-16"), {}, AB),
    "latin letters": (
        "t.csv",
        "größe,b\n1,2\n3,5\n".encode("cp1252"),
        {},
        {"größe": [1, 3], "b": [2, 5]},
    ),
    "another encoding": (
        "t.csv",
        "вес,b\n1,2\n3,5\n".encode("koi8-r"),
        {"encoding": "koi8-r"},
        {"вес": [1, 3], "b": [2, 5]},
    ),
    "no such encoding": ("t.csv", PLAIN, {"encoding": "klingon"}, "unknown encoding 'klingon'"),
    "the wrong encoding": (
        "t.csv",
        "größe,b\n1,2\n".encode("cp1252"),
        {"encoding": "utf-8"},
        "not utf-8",
    ),
    "comments": ("t.csv", "# made in May\n" + PLAIN.replace("2,4.5", "# pause\n2,4.5"), {}, AB),
    "names in a comment": ("t.csv", "# made in May\n# " + PLAIN, {}, AB),
    "blank lines": ("t.csv", "\n\n" + PLAIN.replace("2,4.5", "\n2,4.5") + "\n\n", {}, AB),
    "gzip": ("t.csv.gz", gzip.compress(PLAIN.encode()), {}, AB),
    "bzip2": ("t.csv.bz2", bz2.compress(PLAIN.encode()), {}, AB),
    "xz": ("t.tsv.xz", lzma.compress(PLAIN.replace(",", "\t").encode()), {}, AB),
    "not gzip": ("t.csv.gz", PLAIN, {}, "not a table"),
    "a header NA": ("t.csv", "a,NA\n1,2\n3,5\n", {}, {"a": [1, 3], "NA": [2, 5]}),
    "spaces around names": ("t.csv", " a , b\n1, 2\n3, 5\n", {}, {"a": [1, 3], "b": [2, 5]}),
    "names that count": ("t.csv", "0,1\n3,2\n4,5\n", {}, {"0": [3, 4], "1": [2, 5]}),
    "a header of numbers": (
        "t.csv",
        "0.711563,-6.2\n1,2\n3,5\n",
        {},
        "first line contains numbers.*header=False",
    ),
    "no header": ("t.csv", "0.5,-6\n1,2\n", {"header": False}, {"X1": [0.5, 1], "X2": [-6, 2]}),
    "a trailing separator": ("t.csv", "a,b,\n1,2,\n3,5,\n", {}, {"a": [1, 3], "b": [2, 5]}),
    "a column without a name": ("t.csv", "a,,b\n1,7,2\n3,8,5\n", {}, "column 2 has no name"),
    "an unnamed counter": ("t.csv", ROWS.replace("id,", ","), {}, ROW_COLUMNS),
    "unnamed names of rows": ("t.csv", ",a,b\nx,1,2\ny,3,5\n", {}, {"a": [1, 3], "b": [2, 5]}),
    "names of rows as R writes them": (
        "t.txt",
        "a b\nx 1 2\ny 3 5\n",
        {},
        {"a": [1, 3], "b": [2, 5]},
    ),
    "an unnamed measurement": ("t.csv", ",b\n1.5,2\n2.5,3\n1,7\n", {}, "index=0"),
    "one name too few": ("t.csv", "a,b\n1,2,3\n4,5,7\n", {}, "2 names.*3 values"),
    "one name too many": ("t.csv", "a,b,c\n1,2\n4,5\n", {}, "3 names.*2 values"),
    "a name twice": ("t.csv", "a,a\n1,2\n3,5\n4,4\n", {}, "'a' appears twice"),
    "an id that counts": ("t.csv", ROWS, {}, ROW_COLUMNS),
    "an id left out": ("t.csv", ROWS, {"drop": ["id"]}, ROW_COLUMNS),
    "an id as index": ("t.csv", ROWS, {"index": "id"}, ROW_COLUMNS),
    "an index by number": ("t.csv", ROWS, {"index": 0}, ROW_COLUMNS),
    "an id that is wanted": (
        "t.csv",
        ROWS,
        {"columns": ["id", "a"]},
        {"id": list(range(1, 9)), "a": ROW_COLUMNS["a"]},
    ),
    "columns by name": ("t.csv", ROWS, {"columns": ["b"]}, {"b": ROW_COLUMNS["b"]}),
    "a column that is not there": (
        "t.csv",
        PLAIN,
        {"columns": ["z"]},
        r"=\['z'\]: the columns are a, b",
    ),
    "nothing to drop": ("t.csv", PLAIN, {"drop": ["z"]}, r"=\['z'\]: the columns are a, b"),
    "no such index": ("t.csv", PLAIN, {"index": "z"}, "no column 'z'"),
    "everything dropped": ("t.csv", PLAIN, {"drop": ["a", "b"]}, "no column is left"),
    "a string of columns": ("t.csv", PLAIN, {"columns": "a"}, "give a list"),
    "text, dates and a counter": (
        "t.csv",
        "id,day,land,a\n" + "".join(f"{i},2020-01-0{i},fr,{i % 3}\n" for i in range(1, 7)),
        {},
        r"2 columns.*'day' has dates \('2020-01-01' in line 2\)"
        r".*'land' contains text \('fr' in line 2\).*--drop day,land",
    ),
    "german dates": ("t.csv", "d;a\n1.2.2020;1\n2.2.2020;2\n", {}, "'d' has dates"),
    "a word among numbers": (
        "t.csv",
        "a,b\n1,2\n\n# pause\n3,5\n4,oops\n7,1\n",
        {},
        r"'b' contains text in 1 of 4 cells \('oops' in line 6\).*missing_codes",
    ),
    "an empty column": ("t.csv", "a,b\n1,\n3,\n", {}, "'b' is empty"),
    "missing values": (
        "t.csv",
        "a,b,c\n1,NA,.\n?,5,\n2,nan,3\n",
        {},
        {"a": [1, NAN, 2], "b": [NAN, 5, NAN], "c": [NAN, NAN, 3]},
    ),
    "codes that are given": (
        "t.csv",
        "a,b\n-999,2\n3,n.d.\n4,5\n",
        {"missing_codes": [-999, "n.d."]},
        {"a": [NAN, 3, 4], "b": [2, NAN, 5]},
    ),
    "a covariance matrix": ("t.csv", SQUARE, {}, "mirror each other.*--covariance --n"),
    "a covariance matrix with names": (
        "t.csv",
        ",a,b,c\na,1,0.5,0.2\nb,0.5,1,0.1\nc,0.2,0.1,1\n",
        {},
        "mirror each other",
    ),
    "a long row": ("t.csv", "a,b\n1,2\n3,5\n# pause\n4,5,6\n", {}, "line 5 has 3 cells"),
    "true and false": ("t.csv", "a,b\nTrue,2\nFalse,5\n", {}, {"a": [1, 0], "b": [2, 5]}),
    "empty": ("t.csv", "", {}, "not a table"),
    "only a header": ("t.csv", "a,b\n", {}, "no row below"),
    "only comments": ("t.csv", "# a\n# b\n", {}, "not a table"),
    "a picture": ("t.csv", b"\x89PNG\r\n\0\0\0", {}, "contains binary data"),
    "an unknown kind": ("t.sav", PLAIN, {}, "unknown kind of file"),
    "a parquet that is none": ("t.parquet", PLAIN, {}, "not a table"),
    "an excel that is none": ("t.xlsx", PLAIN, {}, "not a table"),
    "a wrong decimal": ("t.csv", PLAIN, {"decimal": "'"}, "decimal is"),
    "a wrong separator": ("t.csv", PLAIN, {"sep": ";;"}, "sep is"),
}


def test_there_are_many():
    assert len(FILES) >= 60


@pytest.mark.parametrize("name", FILES)
def test_awkward_files(tmp_path, name):
    file, content, options, expected = FILES[name]
    path = tmp_path / file
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    if isinstance(expected, str):
        with pytest.raises(InputError, match=expected) as error:
            read_table(path, **options)
        assert str(path) in str(error.value)
        assert "\n" not in str(error.value)
        return
    frame = read_table(path, **options)
    assert list(frame.columns) == list(expected)
    wanted = np.array(list(expected.values()), dtype=float).T
    np.testing.assert_array_equal(frame.to_numpy(dtype=float, na_value=NAN), wanted)


def test_an_archive_with_one_table(tmp_path):
    path = tmp_path / "t.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("inside.csv", PLAIN)
    assert read_table(path).to_dict("list") == AB
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("more.csv", PLAIN)
    with pytest.raises(InputError, match="contains 2 files"):
        read_table(path)


@pytest.mark.parametrize("kind", ["parquet", "feather", "xlsx", "dta"])
def test_files_of_other_programs(tmp_path, kind):
    pytest.importorskip("openpyxl" if kind == "xlsx" else "pyarrow")
    path, frame = tmp_path / f"t.{kind}", pd.DataFrame(AB)
    write = {"xlsx": "to_excel", "dta": "to_stata"}.get(kind, f"to_{kind}")
    options = {
        "parquet": {},
        "feather": {},
        "xlsx": {"index": False},
        "dta": {"write_index": False},
    }
    getattr(frame, write)(path, **options[kind])
    assert read_table(path).to_dict("list") == AB
    frame["day"] = pd.Timestamp("2020-01-01")
    frame["land"] = ["fr", "de", "it"]
    getattr(frame, write)(path, **options[kind])
    with pytest.raises(InputError, match=r"2 columns.*'day' has dates.*'land' contains text"):
        read_table(path)
    assert read_table(path, drop=["day", "land"]).to_dict("list") == AB


def test_a_sheet_with_an_index_a_title_and_holes(tmp_path):
    pytest.importorskip("openpyxl")
    path = tmp_path / "t.xlsx"
    frame = pd.DataFrame({"a": [1.5, None, 3.0], "b": [2.0, 4.5, -999]})
    with pd.ExcelWriter(path) as writer:
        frame.to_excel(writer, sheet_name="one", startrow=2)
        frame.to_excel(writer, sheet_name="two")
    found = read_table_file(path, missing_codes=[-999])
    assert any("and there are" in note for note in found.notes)
    assert found.frame.isna().to_numpy().tolist() == [[False, False], [True, False], [False, True]]


@pytest.mark.parametrize("library", ["polars", "pyarrow"])
def test_tables_of_other_libraries(library):
    module = pytest.importorskip(library)
    table = (module.DataFrame if library == "polars" else module.table)(AB)
    moments = as_moments(table)
    assert moments.names == ("a", "b")
    np.testing.assert_allclose(moments.covariance, as_moments(pd.DataFrame(AB)).covariance)
    assert cl.learn(table).graph.names == ("a", "b")


def test_what_was_decided_is_said(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(("größe;b\n1,5;2\n3;5\n").encode("cp1252"))
    notes = " ".join(read_table_file(path).notes)
    for words in ("semicolons", "decimal commas", "Windows-1252"):
        assert words in notes
    path.write_text("=1+2,b\n1.5,2\n3,5\n")
    assert "formulas: '=1+2' (kept" in read_table_file(path).notes[0]
    path.write_text(PLAIN)
    assert read_table_file(path).notes == ()


def test_a_covariance_matrix_with_its_number_of_rows(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(SQUARE)
    moments = read_moments(path, covariance=True, n_samples=50)
    assert (moments.n_samples, moments.names) == (50, ("a", "b", "c"))
    assert moments.covariance[0, 1] == 0.5
    with pytest.raises(InputError, match="give n_samples"):
        read_moments(path, covariance=True)
    path.write_text("a,b,c\n1,,\n0.5,1,\n0.2,0.1,1\n")
    half = read_moments(path, covariance=True, n_samples=50)
    np.testing.assert_array_equal(half.covariance, moments.covariance)
    path.write_text("a,b,c\n1,,0.2\n,1,\n0.2,0.1,1\n")
    with pytest.raises(InputError, match="column 'b' of the covariance has a missing value"):
        read_moments(path, covariance=True, n_samples=50)
    path.write_text(PLAIN)
    with pytest.raises(InputError, match="3 rows and 2 columns are not a covariance"):
        read_moments(path, covariance=True, n_samples=50)


def test_a_table_of_too_many_columns_can_be_refused_before_its_cells_are_looked_at(tmp_path):
    (tmp_path / "wide.csv").write_text("a,b\n1,2\n1,2,3,4,5\n")

    def check(rows, columns):
        raise cl.InputError(f"{rows} times {columns}")

    with pytest.raises(cl.InputError, match=r"wide.csv: 2 times 5"):
        read_table_file(tmp_path / "wide.csv", check_shape=check)
