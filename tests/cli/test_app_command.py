"""``cyclearn app``: what keeps it from starting is said in one line."""

import socket
import sys

import pytest

from cyclearn.app.workspace import Workspace

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")


def test_a_table_that_is_not_there(refused):
    assert "absent.csv: no such file" in refused("app", "absent.csv", "--no-browser")


def test_a_folder_of_other_things(refused, tmp_path):
    (tmp_path / "thesis.tex").touch()
    assert "contains other files" in refused("app", "--no-browser", "--workspace", tmp_path)


def test_a_workspace_that_is_open_already(refused, tmp_path):
    with Workspace.open(tmp_path / "w").locked():
        assert "--workspace" in refused("app", "--no-browser", "--workspace", tmp_path / "w")


def test_a_port_that_is_taken(refused):
    from cyclearn.cli.app_command import listening

    with listening(0) as taken:
        port = taken.getsockname()[1]
        assert f"port {port}" in refused("app", "--no-browser", "--port", port)


def test_without_the_extra(refused, monkeypatch):
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    assert "cyclearn[app]" in refused("app", "--no-browser")


@pytest.mark.skipif(sys.platform == "win32", reason="there a port is free at once")
def test_a_port_works_again_at_once():
    from cyclearn.cli.app_command import listening

    with listening(0) as listener:
        port = listener.getsockname()[1]
        with socket.create_connection(("127.0.0.1", port)) as browser:
            served, _ = listener.accept()
            # The side that ends first keeps the port for a minute, unless it is asked not to.
            served.close()
            assert browser.recv(1) == b""
    listening(port).close()
