"""Draw the pictures of the gallery: ``docs/images/gallery_*.png``, as its pages save them.

Runs the Python of every page of ``docs/gallery``; needs the data that they name
(``CYCLEARN_DATA``): ``python docs/make_gallery_pictures.py``.
"""

import doctest
import os
import shutil
import sys
import tempfile
from pathlib import Path

DOCS = Path(__file__).parent.absolute()
sys.path.insert(0, str(DOCS.parent / "tests"))

from document_blocks import blocks  # noqa: E402


def main() -> None:
    """Run each page in an empty folder and keep the pictures that it saves."""
    for page in sorted((DOCS / "gallery").glob("*.rst")):
        text = page.read_text(encoding="utf-8")
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            scope: dict[str, object] = {"__name__": page.stem}
            for block in blocks(text):
                if block.kind == "file":
                    Path(block.name).write_text(block.text, encoding="utf-8")
                    continue
                for example in doctest.DocTestParser().get_examples(block.text):
                    if not example.exc_msg:
                        exec(compile(example.source, page.name, "single"), scope)
            for picture in Path().glob("gallery_*.png"):
                shutil.copy(picture, DOCS / "images")
            os.chdir(DOCS)


if __name__ == "__main__":
    main()
