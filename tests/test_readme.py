"""Every block of the README runs, and it names every command."""

import re

from document_blocks import ROOT, run_console

TEXT = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", TEXT, re.DOTALL)


def test_python_blocks_run(capsys):
    assert blocks("python")
    scope: dict[str, object] = {}
    for block in blocks("python"):
        exec(block, scope)
    assert "price, quantity" in capsys.readouterr().out


def test_command_lines_run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert len(blocks("console")) >= 2
    for block in blocks("console"):
        run_console(block, capsys, "README.md")


def test_no_other_block_is_left_unrun():
    assert set(re.findall(r"^```(\w+)", TEXT, re.MULTILINE)) == {"python", "console", "text"}


def test_every_command_is_named():
    from cyclearn.cli.commands import PLACES

    for name in PLACES:
        assert f"`{name}`" in TEXT or f"cyclearn {name}" in TEXT
