"""The pages of the gallery as notebooks: ``python docs/make_notebooks.py``.

Prose becomes Markdown, examples become cells with the output that the page shows, and files that a
page needs are written by a cell.
"""

from __future__ import annotations

import doctest
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS.parent / "tests"))

from document_blocks import blocks  # noqa: E402

PAGES = sorted(page for page in (DOCS / "gallery").glob("*.rst") if page.stem != "index")
_LEVELS = {"=": "#", "-": "##", "~": "###"}


def main() -> None:
    """Write every notebook beside its page."""
    for page in PAGES:
        page.with_suffix(".ipynb").write_text(notebook(page), encoding="utf-8")


def notebook(page: Path) -> str:
    """The text of the notebook of a page."""
    cells = list(_cells(page.read_text(encoding="utf-8")))
    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number}"
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    whole = {
        "cells": cells,
        "metadata": {"kernelspec": kernel, "language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"


def _cells(text: str) -> Iterator[dict]:
    for block in blocks(text):
        if block.kind == "file":
            yield _code(
                f'from pathlib import Path\n\nPath("{block.name}").write_text("""{block.text}""")'
            )
            continue
        assert block.kind == "doctest", f"a notebook has no {block.kind} block"
        source = ""
        for piece in doctest.DocTestParser().parse(block.text):
            if isinstance(piece, str):
                if piece.strip():
                    if source:
                        yield _code(source)
                        source = ""
                    yield _prose(piece)
                continue
            source += piece.source
            if piece.want or piece.exc_msg:
                yield _code(source, piece.want, fails=piece.exc_msg is not None)
                source = ""
        if source:
            yield _code(source)


def _code(source: str, shown: str = "", *, fails: bool = False) -> dict:
    outputs = []
    if shown:
        outputs = [{"output_type": "stream", "name": "stdout", "text": shown.splitlines(True)}]
    return {
        "cell_type": "code",
        "execution_count": None,
        # What a cell refuses is what it shows; the rest of the notebook goes on.
        "metadata": {"tags": ["raises-exception"]} if fails else {},
        "outputs": outputs,
        "source": source.rstrip("\n").splitlines(True),
    }


def _prose(text: str) -> dict:
    text = re.sub(
        r"^(\S.*)\n([=~-])\2+$", lambda m: f"{_LEVELS[m[2]]} {m[1]}", text, flags=re.MULTILINE
    )
    text = re.sub(r"^\.\. image:: (\S+)\n((?:   :.*\n)*)", _image, text, flags=re.MULTILINE)
    # Roles name a page or an object; links to pages work on the site only.
    text = re.sub(r":\w+:`~?([^`<]+?)(?: *<[^`>]*>)?`", r"*\1*", text)
    text = re.sub(r"`([^`<]+?) *<([^`>]+)>`__?", r"[\1](\2)", text)
    text = text.replace("``", "`")
    return {"cell_type": "markdown", "metadata": {}, "source": text.strip("\n").splitlines(True)}


def _image(match: re.Match[str]) -> str:
    alt = re.search(r":alt: (.*)\n", match[2])
    return f"![{alt[1] if alt else ''}]({match[1]})\n"


if __name__ == "__main__":
    main()
