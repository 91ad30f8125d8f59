"""A served workspace: a client that has been let in, and how to wait for jobs."""

import time
from contextlib import contextmanager
from unittest.mock import patch

PORT = 8765
HOST = f"http://127.0.0.1:{PORT}"
# Said to each worker first: load what a search needs when one is asked for. In the program they do
# so in advance, for three seconds; most of those here are asked for less, or killed.
UNPREPARED = "from cyclearn.app import worker; worker._warm_up = lambda: iter(())\n"


class Client:
    """What the page does, without a page."""

    def __init__(self, client):
        self.raw = client
        self.headers = {"origin": HOST}

    def get(self, path):
        answer = self.raw.get(path)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def post(self, path, value=None):
        return self.raw.post(path, json=value or {}, headers=self.headers)

    def upload(self, name, content):
        return self.raw.post(
            "/api/tables", params={"name": name}, content=content, headers=self.headers
        )

    def refused(self, name, content):
        """Why a file is refused."""
        answer = self.upload(name, content)
        assert answer.status_code == 400, answer.text
        return answer.json()["error"]

    def file(self, path):
        answer = self.raw.get(path)
        assert answer.status_code == 200, answer.text
        assert answer.headers["content-disposition"].startswith("attachment")
        return answer.content

    def start(self, kind, table, of=None, **request):
        answer = self.post(
            "/api/jobs", {"kind": kind, "table": table, "of": of, "request": request}
        )
        assert answer.status_code == 200, answer.text
        return answer.json()["id"]

    def job(self, name):
        """A job as the page lists it."""
        return next(each for each in self.get("/api/state")["jobs"] if each["id"] == name)

    def wait(self, name, *states):
        """Wait until a job is in one of the states; to be done, by default."""
        states = states or ("done",)
        while True:
            found = self.job(name)
            if found["state"] in states:
                return found
            assert found["state"] in ("waiting", "running", "stopping"), found
            time.sleep(0.05)

    def wait_for_kept(self, name):
        """Wait until a running job has something that a stop would keep."""
        while not self.job(name)["can_keep"]:
            time.sleep(0.02)


@contextmanager
def serve(folder, size=2, **limits):
    """Serve a workspace with the given limits."""
    from starlette.testclient import TestClient

    from cyclearn.app import pool
    from cyclearn.app.limits import Limits
    from cyclearn.app.server import make_app
    from cyclearn.app.workspace import Workspace

    with patch("cyclearn.app.server._QUICK", size):
        app = make_app(
            Workspace.open(folder),
            port=PORT,
            token="secret",
            limits=Limits(**limits),
            pool=pool.WorkerPool(size),
        )
    work = pool._WORK.replace("from", f"{UNPREPARED}from", 1)
    with patch.object(pool, "_WORK", work), TestClient(app, base_url=HOST) as client:
        assert client.get("/?token=secret", follow_redirects=False).status_code == 303
        yield Client(client)
