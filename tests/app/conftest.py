"""One server for the tests of the application, and what they learn from."""

import json
from pathlib import Path
from urllib.request import HTTPCookieProcessor, ProxyHandler, Request, build_opener

import pandas as pd
import pytest
from served import serve

import cyclearn as cl

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
# What its assertions compare is printed where they fail.
pytest.register_assert_rewrite("browsing")


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


# Five chains, each of which can begin at any of its three variables: 243 graphs.
CHAINS = [[f"{letter}{n}" for n in range(3)] for letter in "abcde"]


@pytest.fixture(scope="session")
def chains():
    """The names in each of five chains."""
    return CHAINS


@pytest.fixture(scope="session")
def chains_table(tmp_path_factory):
    """A table whose class is too large for one list."""
    chain = cl.LinearGaussianModel([[0, 1, 0], [0, 0, 1], [0, 0, 0]], [1, 1, 1])
    parts = [
        chain.sample(300, random_state=n).set_axis(names, axis=1) for n, names in enumerate(CHAINS)
    ]
    path = tmp_path_factory.mktemp("chains") / "chains.csv"
    pd.concat(parts, axis=1).round(4).to_csv(path, index=False)
    return path


@pytest.fixture(scope="session")
def long_table(tmp_path_factory):
    """A table whose search takes a while."""
    graph = cl.simulate.random_graph(22, max_degree=5, random_state=1)
    model = cl.simulate.random_model(graph, random_state=1)
    path = tmp_path_factory.mktemp("long") / "long.csv"
    model.sample(300, random_state=1).round(3).to_csv(path, index=False)
    return path


@pytest.fixture(scope="session")
def new_address(tmp_path_factory):
    """One program for all, as its processes take seconds to begin, and one address a browser."""
    from browsing import program

    with program(tmp_path_factory.mktemp("page") / "w") as (_, printed):
        host = printed.partition("/?")[0]
        opener = build_opener(ProxyHandler({}), HTTPCookieProcessor())
        opener.open(printed).close()
        asked = Request(f"{host}/api/link", b"{}", {"Origin": host})
        yield lambda: json.load(opener.open(asked))["address"]


@pytest.fixture(scope="module")
def served(new_address):
    """One browser and one page for a file: each test says which table it looks at.

    No longer than that: an open browser keeps an event loop running, and tests of clusters start
    one of their own.
    """
    from browsing import browser_context, silent_page

    address = new_address()
    with browser_context(address) as context, silent_page(context, address) as page:
        yield context, page


@pytest.fixture
def page(served):
    return served[1]


@pytest.fixture(scope="module")
def market(served):
    """The example, its graph, and how to come back to them."""
    from browsing import go, learn, learned, opened

    page = served[1]
    opened(page, Path(cl.__file__).parent / "app" / "examples" / "market.csv")
    learn(page)
    title = learned(page, "")
    table = page.input_value("#tables")

    def look():
        if page.input_value("#tables") != table:
            page.select_option("#tables", table)
        page.wait_for_selector(f"#graph .side > h3:text-is('{title}')", state="attached")
        go(page, "graph")

    return look
