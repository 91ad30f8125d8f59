"""Every block of the README runs."""

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent


def test_python_blocks_run(capsys):
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert len(blocks) >= 2
    scope: dict[str, object] = {}
    for block in blocks:
        exec(block, scope)
    printed = capsys.readouterr().out
    assert "price, quantity" in printed
    assert "True False 9 8" in printed


def test_every_command_is_named():
    from cyclearn.cli.app import app

    text = (ROOT / "README.md").read_text()
    for command in app.registered_commands:
        assert f"`{command.name}`" in text or f"cyclearn {command.name}" in text
