"""``cyclearn app``: the application in a browser, on this machine."""

from __future__ import annotations

import os
import secrets
import socket
import sys
import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from cyclearn.cli.documented_options import documented
from cyclearn.cli.output import say
from cyclearn.foundation import InputError, why

_LOOPBACK = "127.0.0.1"


@documented
def app(
    table: Annotated[Path | None, typer.Argument()] = None,
    workspace: Path = Path("cyclearn-workspace"),
    port: Annotated[int, typer.Option(min=0, max=65535)] = 0,
    jobs: Annotated[int | None, typer.Option(min=1)] = None,
    browser: Annotated[bool, typer.Option(help="Open the browser.")] = True,
) -> None:
    """Open the application in a browser: table, knowledge, graph, effects, download.

    Nothing leaves this machine: the page is served on the loopback address, to the browser that
    opens the printed address first. Ctrl-C ends it.

    Parameters
    ----------
    table
        Table to open at the start.
    workspace
        Folder for tables and results; you can open it again later.
    port
        Port; 0 chooses a free one.
    jobs
        Maximum number of processes at a time.
    """
    try:
        import uvicorn

        from cyclearn.app.server import make_app
    except ImportError as error:
        raise InputError(f"cyclearn app needs {error.name}; install cyclearn[app]") from None
    from cyclearn.app.pool import WorkerPool
    from cyclearn.app.workspace import Workspace

    if table is not None and not table.is_file():
        raise InputError(f"{table}: no such file")
    # Files written here and by the workers are readable only by this user.
    os.umask(0o077)
    place = Workspace.open(workspace)
    with place.locked(), listening(port) as listener:
        number = listener.getsockname()[1]
        token = secrets.token_urlsafe(24)
        served = make_app(
            place, port=number, token=token, pool=WorkerPool(jobs, in_background=True), table=table
        )
        address = f"http://{_LOOPBACK}:{number}/?token={token}"
        say(f"cyclearn app: {address}")
        say(f"Tables and results are kept in {place.folder}. Press Ctrl-C to stop.")
        if browser:
            webbrowser.open(address)
        server = uvicorn.Server(
            uvicorn.Config(
                served,
                log_config=None,
                access_log=False,
                server_header=False,
                ws="none",
                timeout_graceful_shutdown=2,
            )
        )
        try:
            server.run(sockets=[listener])
        except KeyboardInterrupt:
            say("Ended.")


def listening(port: int) -> socket.socket:
    """A socket on the loopback address."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    if sys.platform != "win32":
        # Reuse the port of a program that has just ended; on Windows this would share a port in
        # use.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((_LOOPBACK, port))
        listener.listen()
    except OSError as error:
        listener.close()
        raise InputError(
            f"cannot listen on port {port}: {why(error)}; choose another with --port, or omit it"
        ) from None
    return listener
