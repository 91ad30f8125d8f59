"""Only the browser with the token, and only its own page."""

import pytest
from starlette.testclient import TestClient

from cyclearn.app.server import make_app
from cyclearn.app.workspace import Workspace

HOST = "http://127.0.0.1:8765"
OWN = {"origin": HOST}


@pytest.fixture
def outside(tmp_path):
    """A client that has not been let in; without workers, which nobody here gets to."""
    app = make_app(Workspace.open(tmp_path / "w"), port=8765, token="secret")
    return TestClient(app, base_url=HOST, follow_redirects=False)


@pytest.fixture
def inside(outside):
    assert outside.get("/?token=secret").status_code == 303
    return outside


@pytest.mark.parametrize(
    "path", ["/", "/static/main.js", "/api/state", "/?token=wrong", "/?token="]
)
def test_nobody_enters_without_the_token(outside, path):
    answer = outside.get(path)
    assert answer.status_code == 403
    assert "set-cookie" not in answer.headers


def test_the_token_works_once_and_leaves_the_address(outside):
    answer = outside.get("/?token=secret")
    assert answer.headers["location"] == "/"
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert "secret" not in cookie
    assert outside.get("/").status_code == 200
    # Who is in already may use the address again, as a reload does.
    assert outside.get("/?token=secret").status_code == 303
    outside.cookies.clear()
    assert outside.get("/?token=secret").status_code == 403


def test_another_browser_joins_by_an_address_of_its_own(inside):
    address = inside.post("/api/link", headers=OWN).json()["address"]
    assert address.startswith(f"{HOST}/?token=")
    inside.cookies.clear()
    assert inside.get("/api/state").status_code == 403
    assert inside.post("/api/link", headers=OWN).status_code == 403
    assert inside.get(address).status_code == 303
    assert inside.get("/api/state").status_code == 200
    inside.cookies.clear()
    assert inside.get(address).status_code == 403


@pytest.mark.parametrize(
    "headers",
    [
        {"host": "evil.example"},
        {"host": "127.0.0.1:8766"},
        {"host": "evil.example:8765"},
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:8766"},
        {"origin": "https://127.0.0.1:8765"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
)
def test_other_hosts_and_origins_are_refused(inside, headers):
    assert inside.get("/api/state").status_code == 200
    assert inside.get("/api/state", headers=headers).status_code == 403
    assert inside.post("/api/jobs/j1/cancel", headers=OWN | headers).status_code == 403


def test_what_changes_something_must_say_where_it_is_from(inside):
    assert inside.post("/api/jobs", json={}).status_code == 403
    assert inside.post("/api/jobs", json={}, headers=OWN).status_code == 400


def test_a_cookie_of_another_server_does_not_help(outside):
    outside.cookies.set("cyclearn-8765", "guess")
    assert outside.get("/api/state").status_code == 403


@pytest.mark.parametrize("path", ["/", "/api/state", "/static/app.css", "/static/none.js"])
def test_nothing_foreign_can_be_loaded(inside, path):
    headers = inside.get(path).headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "http" not in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert "access-control-allow-origin" not in headers


@pytest.mark.parametrize(
    "path",
    ["/static/../server.py", "/static/%2e%2e%2fserver.py", "/static/__init__.py", "/api/jobs/..",
     "/api/jobs/j1%2f..", "/api/tables/t%C2%B2", "/api/jobs/j99", "/api/tables/j1",
     f"/api/jobs/j{'9' * 400}"],
)  # fmt: skip
def test_no_path_leads_out_of_the_workspace(inside, path):
    assert inside.get(path).status_code in (400, 404)


def test_only_the_loopback_address_is_listened_on():
    from cyclearn.cli.app_command import listening

    with listening(0) as listener:
        assert listener.getsockname()[0] == "127.0.0.1"
