"""Every block of the documentation runs, and the reference names everything that is public."""

import json
import os
import re
import runpy
from types import ModuleType

import pytest

import cyclearn
from document_blocks import ROOT, run_page
from slow_tests import few

DOCS = ROOT / "docs"
IMAGES = DOCS / "images"
PAGES = sorted(
    path.relative_to(DOCS).as_posix()
    for path in DOCS.rglob("*.rst")
    if "_build" not in path.relative_to(DOCS).parts
)


# Pages with long computations; what they call is tested elsewhere, with fewer rows.
LONG = ["dream4", "feedback_networks", "house_prices", "knockouts"]


def is_long(page):
    return page.rpartition("/")[2].removesuffix(".rst") in LONG


@pytest.mark.parametrize("page", few(len(PAGES) - len(LONG), sorted(PAGES, key=is_long)))
def test_blocks_run(page, tmp_path, monkeypatch, capsys):
    text = (DOCS / page).read_text(encoding="utf-8")
    if 'os.environ["CYCLEARN_DATA"]' in text and "CYCLEARN_DATA" not in os.environ:
        pytest.skip("set CYCLEARN_DATA to the folder with the data of this page")
    for package in ("causallearn", "statsmodels", "dowhy", "pgmpy"):
        if f"from {package}" in text:
            pytest.importorskip(package)
    monkeypatch.chdir(tmp_path)
    run_page(DOCS / page, capsys)


def test_notebooks_are_those_of_the_pages(tmp_path, monkeypatch):
    """The cells of a notebook are the examples of its page; those of one page run as cells too."""
    script = runpy.run_path(str(DOCS / "make_notebooks.py"))
    assert len(script["PAGES"]) > 5
    for page in script["PAGES"]:
        written = page.with_suffix(".ipynb").read_text(encoding="utf-8")
        assert written == script["notebook"](page), f"python docs/make_notebooks.py: {page.name}"
    monkeypatch.chdir(tmp_path)
    cells = json.loads((DOCS / "gallery" / "supply_and_demand.ipynb").read_text())["cells"]
    scope: dict[str, object] = {}
    for cell in (cell for cell in cells if cell["cell_type"] == "code"):
        source = "".join(cell["source"])
        if cell["metadata"]:
            with pytest.raises(cyclearn.InputError):
                exec(source, scope)
        else:
            exec(source, scope)
    assert scope["others"].size == 2


@pytest.mark.parametrize(
    "page",
    [
        ">>> 1 + 1\n3\n",
        ">>> undefined\n",
        ".. code-block:: console\n\n   $ cyclearn --version\n   another program\n",
        ".. code-block:: console\n\n   $ cyclearn learn absent.csv\n",
        ".. code-block:: console\n\n   $ make dinner\n",
        ".. code-block:: python\n\n   nobody = runs(this)\n",
    ],
)
def test_a_wrong_block_is_noticed(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "page.rst").write_text(page)
    with pytest.raises(AssertionError):
        run_page(tmp_path / "page.rst", capsys)


def test_every_public_name_is_in_the_reference():
    text = "\n".join(path.read_text() for path in (DOCS / "api").glob("*.rst"))
    documented = set(re.findall(r"auto\w+:: cyclearn\.([\w.]+)", text))
    modules = {name for name in cyclearn.__all__ if isinstance(getattr(cyclearn, name), ModuleType)}
    inside = {f"{name}.{each}" for name in modules for each in getattr(cyclearn, name).__all__}
    assert {*cyclearn.__all__, *inside} - {"__version__"} <= documented


@pytest.mark.parametrize(
    "page", sorted((DOCS / "gallery").glob("*.rst")), ids=lambda page: page.stem
)
def test_pages_of_the_gallery_have_a_picture_and_a_notebook(page):
    text = page.read_text(encoding="utf-8")
    assert ".. image:: ../images/" in text
    if page.stem != "index":
        assert text.split("\n\n")[1].startswith("**Conclusion.**")
        assert f"<{page.stem}.ipynb>" in page.with_name("index.rst").read_text(encoding="utf-8")


def test_the_script_draws_every_picture(tmp_path):
    runpy.run_path(str(DOCS / "make_pictures.py"))["make_pictures"](tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {
        path.name for path in IMAGES.glob("*.svg")
    }


def test_every_picture_is_used_and_every_used_picture_exists():
    used = set()
    for page in [ROOT / "README.md", *(DOCS / page for page in PAGES)]:
        for name in re.findall(r"images/([\w.-]+)", page.read_text()):
            used.add(name)
    assert used == {path.name for path in IMAGES.iterdir()}
