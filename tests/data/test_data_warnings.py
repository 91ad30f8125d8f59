"""Warnings as values: one class for each code, plain values and back, words for each surface."""

import json
import re
from dataclasses import fields
from typing import get_type_hints

import pytest

from cyclearn import DataWarning, InputError
from cyclearn.data.data_warnings import DependentRows, MissingValues, warnings_of

CLASSES = DataWarning.__subclasses__()
EXAMPLES = {int: 3, float: 0.5, str: "a", bool: True, int | None: 2, float | None: None}


def example(of_code):
    values = {"columns": ("a", "b"), "group": "north"}
    types = get_type_hints(of_code)
    for field in fields(of_code):
        if field.name not in values:
            values[field.name] = EXAMPLES.get(types[field.name])
    for name in ("edges", "superfluous"):
        if name in values:
            values[name] = (("a", "b"),)
    if "limits" in values:
        values["limits"] = ("max_parents", "time_limit")
    if "texts" in values:
        values["texts"] = (("no", "yes"), ("f", "m", "x"))
    if "ruled_out_by" in values:
        values["ruled_out_by"] = ("weights", "lags")
    if "numbers" in values:
        values["numbers"] = (-999.0, -9.0)
    if of_code is MissingValues:
        values["treatment"] = "rows"
    return of_code(**values)


def test_each_code_is_the_name_of_one_class():
    codes = [each.code for each in CLASSES]
    assert len(set(codes)) == len(codes)
    assert {"unfinished_em", "dependent_rows", "hidden_cause"} <= set(codes)


@pytest.mark.parametrize("of_code", CLASSES, ids=lambda each: each.code)
def test_plain_values_and_back(of_code):
    warning = example(of_code)
    (again,) = warnings_of(json.loads(json.dumps([warning.to_dict()])))
    assert again == warning
    assert str(again) == str(warning)
    assert hash(again) == hash(warning)


@pytest.mark.parametrize("of_code", CLASSES, ids=lambda each: each.code)
def test_words_for_each_surface(of_code):
    warning = example(of_code)
    page = warning.on_page()
    for words in (page["message"], page["remedy"], warning.remedy, warning.title):
        assert words
        assert "None" not in words
    assert page["code"] == of_code.code
    assert page["message"] == warning.message
    assert warning.message.startswith("Group north: ")
    assert not warning.in_group("").message.startswith("Group")
    assert str(warning) == f"{warning.message} {warning.remedy}"
    for words in (page["message"], page["remedy"]):
        assert words.endswith(".")
        # No option, function or attribute of Python, no option of the command line.
        assert not re.search(r"\w=|\w_\w|--|\w\(|[a-z]\.[a-z]", words), words


@pytest.mark.parametrize("treatment", ["em", "rows", "pairwise", "error"])
def test_words_of_each_treatment(treatment):
    warning = example(MissingValues)
    values = {**warning.to_dict(), "treatment": treatment}
    (found,) = warnings_of([values])
    assert "3 of 3 rows are complete" in found.message
    assert found.page_remedy


def test_rows_that_were_counted_for_less():
    warning = DependentRows(n_rows=300, n_effective=31.4, column="a", column_n_effective=12.6)
    assert "about 31 of 300 (a: 13)" in warning.message
    assert "n_effective='auto'" in warning.remedy
    assert "earlier rows act on later ones" in warning.page_remedy
    counted = DependentRows(
        n_rows=300, n_effective=31.4, column="a", column_n_effective=12.6, n_counted=31.4
    )
    assert counted.remedy == (
        "They count as 31 (n_effective='all' counts every row). For a time series, use lags=1."
    )
    assert counted.page_remedy.startswith("They count as 31.")
    assert "p-values" not in counted.message


@pytest.mark.parametrize(
    "change",
    [
        {"code": "unknown"},
        {"code": []},
        {"n_rows": "3"},
        {"n_effective": None},
        {"n_effective": float("nan")},
        {"n_effective": 10**400},
        {"columns": "ab"},
        {"group": 1},
        {"kind": "dependent rows"},
    ],
)
def test_what_is_no_warning_is_refused(change):
    with pytest.raises(InputError, match="not a valid warning"):
        warnings_of([{**example(DependentRows).to_dict(), **change}])
    with pytest.raises(InputError, match="not a valid warning"):
        warnings_of([7])
