"""Settings of the documentation; `make docs` builds it."""

from cyclearn import __version__

project = "cyclearn"
author = "The cyclearn developers"
copyright = author  # noqa: A001 - the name that Sphinx reads
release = version = __version__

extensions = ["sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_build"]
# Docstrings write |E| for the number of edges, which reStructuredText takes for a substitution.
rst_prolog = r".. |E| replace:: \|E\|"
default_role = "literal"
# Types such as "tuple of edges" are taken for references, and "edges" has two targets.
suppress_warnings = ["ref.python"]
highlight_language = "python"

# Types stand in the docstrings; signatures with twenty annotated options cannot be read.
autodoc_typehints = "none"
autodoc_member_order = "bysource"
python_maximum_signature_line_length = 88
napoleon_google_docstring = False
napoleon_use_param = False
napoleon_use_rtype = False
add_module_names = False
toc_object_entries_show_parents = "hide"

html_theme = "furo"
html_title = f"cyclearn {release}"
html_static_path = ["_static"]
html_css_files = ["pictures.css"]
html_copy_source = False
html_show_sphinx = False


def setup(app):
    """Keep first lines of properties whole: napoleon takes words before a colon for a type."""
    app.connect("autodoc-process-docstring", _begin_with_a_comment, priority=400)


def _begin_with_a_comment(_app, what, _name, _object, _options, lines):
    if what in {"property", "attribute"}:
        lines[:0] = ["..", ""]
