"""One server for the tests of the application, and what they learn from."""

import pytest
from served import serve

import cyclearn as cl

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")


@pytest.fixture(scope="session")
def client(tmp_path_factory):
    """One server for all tests: its workers take seconds to begin."""
    with serve(
        tmp_path_factory.mktemp("app") / "workspace", max_bytes=300_000, max_rows=3_000
    ) as served:
        yield served


@pytest.fixture(scope="session")
def example(client):
    """The example table, and the graph that was learned from it."""
    table = client.post("/api/tables/example").json()["id"]
    job = client.start("learn", table)
    client.wait(job)
    return table, job


@pytest.fixture(scope="session")
def long_table(tmp_path_factory):
    """A table whose search takes a while."""
    graph = cl.simulate.random_graph(22, max_degree=5, random_state=1)
    model = cl.simulate.random_model(graph, random_state=1)
    path = tmp_path_factory.mktemp("long") / "long.csv"
    model.sample(300, random_state=1).round(3).to_csv(path, index=False)
    return path
