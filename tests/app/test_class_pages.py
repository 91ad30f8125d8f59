"""Classes that are too large for one list: what the pages hold is what a loop over all finds."""

from itertools import product

import networkx as nx
import pytest

pytestmark = pytest.mark.xdist_group("app")


@pytest.fixture(scope="module")
def large(client, chains_table):
    table = client.upload("chains.csv", chains_table.read_bytes()).json()["id"]
    job = client.start("learn", table)
    client.wait(job)
    return job


def every_graph(chains):
    """All members, by hand: a root for each chain."""
    for roots in product(range(3), repeat=len(chains)):
        yield frozenset(
            edge
            for (x, y, z), root in zip(chains, roots, strict=True)
            for edge in ([(x, y), (y, z)], [(y, x), (y, z)], [(y, x), (z, y)])[root]
        )


def pages(client, job, **asked):
    """All pages, one after the other."""
    at = 0
    while at is not None:
        answer = client.post(f"/api/jobs/{job}/members", {"at": at, **asked})
        assert answer.status_code == 200, answer.text
        page = answer.json()
        yield page
        at = page["next"]


def graphs_on(page):
    members = page["members"][0 if page["has_learned"] else 1 :]
    for member in members:
        edges = [page["edges"][n] for n in member["edges"]]
        yield frozenset((edge["source"], edge["target"]) for edge in edges)


def test_the_list_is_a_sample(client, large):
    view = client.get(f"/api/jobs/{large}")["view"]
    assert view["listing"]["size"] == "243"
    assert view["listing"]["selection"] == "sampled"


@pytest.mark.parametrize(
    ("asked", "is_like"),
    [
        ({}, lambda _: True),
        ({"source": "a0", "target": "a1"}, lambda graph: ("a0", "a1") in graph),
        (
            {"source": "b2", "target": "b0", "how": "somehow", "stable": True},
            lambda graph: nx.has_path(nx.DiGraph([*graph, ("b2", "b1")][:-1]), "b2", "b0"),
        ),
        ({"source": "a0", "target": "c1"}, lambda _: False),
    ],
)
def test_the_pages_together_are_all_that_is_asked_for(client, large, chains, asked, is_like):
    found = list(pages(client, large, **asked))
    graphs = [graph for page in found for graph in graphs_on(page)]
    assert len(graphs) == len(set(graphs))
    assert set(graphs) == {graph for graph in every_graph(chains) if is_like(graph)}
    assert all(len(page["members"]) <= 201 for page in found)
    # Variables stay where they are.
    nodes = {page["picture"].partition('class="node"')[2][:200] for page in found}
    assert len(nodes) == 1


def test_the_numbers_count(client, large):
    def counted(**asked):
        return [
            [page[part] for part in ("found", "at", "size")]
            for page in pages(client, large, **asked)
        ]

    assert counted() == [[200, 0, "243"], [43, 200, "243"]]
    assert counted(source="a0", target="a1")[0][0] == 81


@pytest.mark.parametrize(
    "asked",
    [
        {"at": -1},
        {"at": "all"},
        {"at": True},
        {"at": 10**30},
        {"source": "nobody", "target": "a0"},
    ],
)
def test_what_cannot_be_asked(client, large, asked):
    answer = client.post(f"/api/jobs/{large}/members", asked)
    assert answer.status_code == 400
    assert "defect" not in answer.json()["error"]
