"""The runnable blocks of a document: Python, command lines and the files that they read.

A document is run from top to bottom in one empty folder, so that a command can read what Python
wrote and the other way round.
"""

import doctest
import os
import re
import shlex
from dataclasses import dataclass
from math import inf
from pathlib import Path
from unittest import mock

from command_line import run_cyclearn

ROOT = Path(__file__).parent.parent
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE

_DIRECTIVE = re.compile(
    r"^(?P<indent> *)\.\. code-block:: (?P<language>\S+)\n"
    r"(?P<options>(?:(?P=indent) +:.*\n)*)"
    r"\n(?P<body>(?:(?:(?P=indent) +.*)?\n)+)",
    re.MULTILINE,
)


@dataclass(frozen=True)
class Block:
    """Text of one kind: ``doctest``, ``console``, or a file with its ``name``."""

    kind: str
    text: str
    line: int
    name: str = ""


def blocks(text):
    """The blocks of a reStructuredText page, in their order."""
    found, position = [], 0
    for match in _DIRECTIVE.finditer(text):
        found.append(Block("doctest", text[position : match.start()], _line(text, position)))
        position = match.end()
        caption = re.search(r":caption: (\S+)\n", match["options"])
        kind = "file" if caption else match["language"]
        name = caption[1] if caption else ""
        found.append(Block(kind, _dedented(match["body"]), _line(text, match.start("body")), name))
    return [*found, Block("doctest", text[position:], _line(text, position))]


def _line(text, position):
    return text.count("\n", 0, position)


def _dedented(body):
    lines = body.splitlines()
    margin = min(len(line) - len(line.lstrip()) for line in lines if line.strip())
    return "\n".join(line[margin:] for line in lines).strip("\n") + "\n"


def run_page(path, capsys):
    """Run every block of a page in the current folder."""
    scope = {"__name__": "__main__"}
    for block in blocks(path.read_text(encoding="utf-8")):
        where = f"{path.name}:{block.line + 1}"
        if block.kind == "doctest":
            run_doctest(block, scope, where)
        elif block.kind == "file":
            Path(block.name).write_text(block.text, encoding="utf-8")
        elif block.kind == "console":
            run_console(block.text, capsys, where)
        else:
            raise AssertionError(f"{where}: a {block.kind} block that no test can run")


def run_doctest(block, scope, where):
    """Run the examples of one stretch of text; names stay in ``scope``."""
    test = doctest.DocTestParser().get_doctest(block.text, scope, where, where, block.line)
    runner = doctest.DocTestRunner(verbose=False, optionflags=FLAGS)
    report = []
    runner.run(test, out=report.append, clear_globs=False)
    scope.update(test.globs)
    assert not report, "".join(report)


def run_console(text, capsys, where):
    """Run the ``$`` lines of a block and compare what follows them with what is printed."""
    code = 0
    for command, expected in console_commands(text):
        words = shlex.split(os.path.expandvars(command))
        if words[0] == "cyclearn":
            # On a busy machine lines of progress would come between what the page shows.
            with mock.patch("cyclearn.cli.progress._PAUSE", inf):
                ended = run_cyclearn(words[1:], capsys)
            code, printed = ended.returncode, ended.stdout + ended.stderr
        elif command == "echo $?":
            printed = f"{code}\n"
        else:
            check_installation(words, where)
            continue
        if expected:
            checker = doctest.OutputChecker()
            assert checker.check_output(expected, printed, FLAGS), (
                f"{where}: $ {command}\nexpected:\n{expected}\ngot:\n{printed}"
            )
        elif words[0] == "cyclearn":
            assert code == 0, f"{where}: $ {command}\nended with {code}:\n{printed}"


def console_commands(text):
    """Pairs of a command and the output shown under it; ``\\`` continues a line."""
    text = text.replace("\\\n", " ")
    parts = re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]
    return [tuple(part.split("\n", 1)) if "\n" in part else (part, "") for part in parts]


def check_installation(words, where):
    """Commands about installing are not run, but must name what exists."""
    if words[0] == "make":
        assert re.search(rf"^{words[1]}:", (ROOT / "Makefile").read_text(), re.MULTILINE), where
        return
    assert words[:2] == ["pip", "install"], f"{where}: {words} is not run by any test"
    project = (ROOT / "pyproject.toml").read_text()
    for extra in re.findall(r"\[(.*?)\]", words[-1]):
        assert re.search(rf"^{extra} = \[", project, re.MULTILINE), where
