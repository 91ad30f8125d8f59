"""The report as text: complete, escaped, repeatable, and true to the result."""

import json
import re
from html.parser import HTMLParser
from importlib.resources import files

import numpy as np
import pytest

import cyclearn as cl
from cyclearn.report import lay_out, report_html
from cyclearn.report.findings import PairVerdict, find_out
from cyclearn.report.fit_words import grade, verdict
from cyclearn.report.svg_graph import shortened

VOID = {"meta", "input"}
HOSTILE = ["<b>bold</b>", "</script><script>alert(1)</script>", "a&b \"q\" 'x'", "é ; --x: url(y)"]


class Page(HTMLParser):
    """Elements with their attributes, the text of the page, and whether all tags are closed."""

    def __init__(self, source):
        super().__init__()
        self.elements, self.open, self.text = [], [], []
        self.feed(source)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        names = [name for name, _ in attributes]
        assert len(names) == len(set(names)), f"{tag} has an attribute twice"
        self.elements.append((tag, dict(attributes)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] not in {"script", "style"}:
            self.text.append(data)

    def all(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]

    @property
    def words(self):
        return " ".join(" ".join(self.text).split())


def model(names=("costs", "income", "price", "quantity")):
    B = [[0, 0, 0.7, 0], [0, 0, 0, 0.8], [0, 0, 0, -0.6], [0, 0, 0.5, 0]]
    return cl.LinearGaussianModel(B, [1, 1, 1, 1], names)


@pytest.fixture(scope="module")
def rows():
    return model().sample(2_000, random_state=0)


@pytest.fixture(scope="module")
def result(rows):
    return cl.learn(rows)


@pytest.fixture(scope="module")
def page(result, rows):
    return Page(report_html(result, data=rows))


def test_says_what_was_found(page, result):
    assert "Feedback was found among price and quantity." in page.words
    assert "2,000 rows of 4 variables: 4 edges." in page.words
    assert "2 graphs generate the same distributions; 2 edges are in all of them." in page.words
    for (a, b), row in zip(result.graph.edges, result.model.summary().itertuples(), strict=False):
        shown = f"{row.estimate:.3f} {row.std_error:.3f}".replace("-", "−")
        assert f"{a} → {b} {shown}" in page.words
    assert f"RMSEA {result.model.fit_indices.rmsea:.3f} good" in page.words
    effect = result.model.model.total_effects().loc["costs", "quantity"]
    assert f"{effect:.3f}".replace("-", "−") in page.words
    assert f"cyclearn {cl.__version__}" in page.words


def test_same_input_same_bytes(result, rows):
    again = cl.LearnResult.from_json(result.to_json())
    assert report_html(result, data=rows) == report_html(again, data=rows)


def test_needs_nothing_from_outside(page):
    for tag, attributes in page.elements:
        assert tag not in {"link", "img", "iframe", "object", "base"}
        assert "src" not in attributes
        assert attributes.get("href", "#").startswith("#")
    source = (files("cyclearn.report") / "report.css").read_text()
    assert "url(" not in source
    assert "@import" not in source
    policies = [m["content"] for m in page.all("meta") if "http-equiv" in m]
    assert policies[0].startswith("default-src 'none'")


def test_can_be_read_without_eyes_or_mouse(page):
    identifiers = [a["id"] for _, a in page.elements if "id" in a]
    assert len(identifiers) == len(set(identifiers))
    for _, attributes in page.elements:
        pointers = attributes.get("aria-labelledby", "").split()
        pointers += [a[1:] for a in [attributes.get("href", "")] if a.startswith("#")]
        assert set(pointers) <= set(identifiers)
    tags = [tag for tag, _ in page.elements]
    assert [tags.count(tag) for tag in ("main", "nav", "header", "footer", "h1")] == [1] * 5
    assert tags.count("caption") == tags.count("table") > 3
    assert all(a.get("scope") in {"row", "col"} for a in page.all("th"))
    pictures = [a for a in page.all("svg") if "aria-hidden" not in a]
    assert [a["role"] for a in pictures] == ["img", "img"]
    assert all(len(a["aria-labelledby"].split()) == 2 for a in pictures)
    assert page.elements[[t for t, _ in page.elements].index("body") + 1][1]["class"] == "skip"
    assert any(a.get("aria-live") == "polite" for _, a in page.elements)
    assert page.all("html") == [{"lang": "en"}]


def luminance(colour):
    channels = [int(colour[n : n + 2], 16) / 255 for n in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return np.dot(linear, [0.2126, 0.7152, 0.0722])


def test_colours_have_enough_contrast():
    # The definition of the Web Content Accessibility Guidelines; text needs 4.5, lines need 3.
    style = (files("cyclearn.report") / "report.css").read_text()
    themes = re.findall(r":root \{(.*?)\}", style, re.DOTALL)
    assert len(themes) == 3
    for theme in themes:
        colour = dict(re.findall(r"--([\w-]+): (#\w{6})", theme))
        pairs = [("ink", back, 4.5) for back in ("paper", "panel", "node", "loop", "group", "warn")]
        pairs += [(front, "paper", 4.5) for front in ("soft", "accent", "positive", "negative")]
        pairs += [(front, "group", 4.5) for front in ("positive", "negative")]
        pairs += [("soft", "panel", 4.5), ("accent", "warn", 4.5)]
        pairs += [(front, "paper", 3) for front in ("removed", "node-line", "loop-line")]
        for front, back, least in pairs:
            light, dark = sorted((luminance(colour[front]), luminance(colour[back])))[::-1]
            assert (light + 0.05) / (dark + 0.05) >= least, (front, back)


def test_names_are_text_wherever_they_stand():
    result = cl.learn(model(HOSTILE).sample(2_000, random_state=0))
    source = report_html(result, title="<i>&</i>", command=["cyclearn", "<u>", "a b"])
    page = Page(source)
    # The same elements as with harmless names: nothing in a name became markup.
    harmless = cl.learn(model(list("abcd")).sample(2_000, random_state=0))
    plain = Page(report_html(harmless, title="t", command=["c"]))
    assert [tag for tag, _ in page.elements] == [tag for tag, _ in plain.elements]
    for name in HOSTILE:
        assert " ".join(name.split()) in page.words
    assert "<i>&</i>" in page.words
    assert "cyclearn '<u>' 'a b'" in page.words


def test_every_edge_is_drawn_once(page, result):
    drawn = [a for tag, a in page.elements if tag == "g" and "edge" in a.get("class", "").split()]
    members = result.equivalence_class.members().graphs
    union = {edge for member in members for edge in member.edges}
    # The learned graph, the browser of members, and five lines and three in the legends.
    assert len(drawn) == result.graph.n_edges + len(union) + 5 + 3
    labels = [a["class"] for a in page.all("text") if "weight" in a.get("class", "")]
    assert sorted(labels) == [
        "weight negative inside",
        "weight positive",
        "weight positive",
        "weight positive inside",
    ]


def test_members_are_those_of_the_class():
    # The paper's example on four nodes, whose class has eight members.
    B = [[0, 0, 0.7, 0], [0, 0, 0, 0.6], [0, -0.7, 0, 0], [0.6, 0, 0.5, 0]]
    truth = cl.LinearGaussianModel(B, [1, 1, 1, 1])
    known = cl.Knowledge(required=truth.graph.edges)
    learned = cl.learn(cl.Moments(truth.covariance, 5_000), knowledge=known)
    assert learned.graph == truth.graph
    assert learned.equivalence_class.size == 8
    found = find_out(learned, None, 200)
    assert found.is_complete
    assert {m.graph for m in found.members} == set(learned.equivalence_class)
    assert found.members[0].graph == learned.graph
    for member in found.members:
        edges = set(learned.graph.edges) - set(member.removed) | set(member.added)
        assert edges == set(member.graph.edges)
        assert member.is_stable == cl.fit(member.graph, learned.model.moments).is_stable
    certain = set.intersection(*(set(m.graph.edges) for m in found.members))
    assert found.certain == certain
    cut = find_out(learned, None, 3)
    assert len(cut.members) == 3
    assert not cut.is_complete
    assert cut.members[0].graph == learned.graph
    assert (
        "3 of 8 graphs of the class are listed here"
        in Page(report_html(learned, max_members=3)).words
    )
    data = re.search(r'id="member-data">(.*?)</script>', report_html(learned, max_members=3))
    assert len(json.loads(data[1])) == 3


def test_one_direction_can_be_certain_while_the_other_comes_and_goes():
    pair = PairVerdict("a", "b", forward=3, backward=0, both=2, none=0)
    assert pair.certain_edges == (("a", "b"),)
    assert not pair.is_settled
    assert pair.chances(("b", "a")) == 2
    assert PairVerdict("a", "b", 0, 0, 4, 0).certain_edges == (("a", "b"), ("b", "a"))
    assert PairVerdict("a", "b", 0, 4, 0, 1).certain_edges == ()


def test_a_class_that_cannot_be_counted_is_said_so(monkeypatch, result):
    def refuse(_):
        raise cl.LimitError("too many")

    monkeypatch.setattr(cl.EquivalenceClass, "size", property(refuse))
    words = Page(report_html(result)).words
    assert "An unknown number of graphs" in words
    assert "too entangled to be counted" in words


def test_warnings_reach_the_page(rows):
    series = rows.cumsum()
    words = Page(report_html(cl.learn(series), data=series)).words
    assert "Before you rely on this, see what to mind : dependent rows" in words
    assert cl.check_data(series)[0].message in words


def test_without_rows_it_says_what_was_not_checked(result, page):
    assert "The rows themselves were not given" in Page(report_html(result)).words
    assert "The rows themselves were not given" not in page.words


@pytest.mark.parametrize("edges", [[], [(0, 1)]])
def test_small_graphs(edges):
    graph = cl.DirectedGraph.from_edges(edges, names=["a", "b"])
    truth = cl.simulate.random_model(graph, random_state=0)
    result = cl.learn(truth.sample(500, random_state=0))
    assert result.graph.n_edges == len(edges)
    words = Page(report_html(result)).words
    if not edges:
        assert "No other graph generates the same distributions" in words
        assert "there are no coefficients" in words
    else:
        assert "Can turn (1)" in words
        assert "nothing about it is tested" in words


def test_ties_with_other_classes_are_told():
    # A 3-cycle and a complete acyclic graph can fit the same distribution equally well.
    B = [[0, 0.6, 0], [0, 0, 0.6], [0.6, 0, 0]]
    moments = cl.Moments(cl.LinearGaussianModel(B, [1, 1, 1]).covariance, 1_000)
    learned = cl.learn(moments)
    others = learned.alternatives
    words = Page(report_html(learned)).words
    assert others
    assert f"{len(others)} graph" in words
    assert "in place of" in words


def test_fit_in_words():
    assert [grade("rmsea", x) for x in (0.05, 0.051, 0.081)] == ["good", "fair", "poor"]
    assert [grade("cfi", x) for x in (0.95, 0.94, 0.89)] == ["good", "fair", "poor"]
    truth = model()
    good = cl.fit(truth.graph, truth.sample(1_000, random_state=0))
    assert verdict(good.fit_indices).endswith("well.")
    bad = cl.fit(cl.DirectedGraph(np.zeros((4, 4)), truth.names), good.moments)
    assert "badly" in verdict(bad.fit_indices)


def test_a_shortened_curve_ends_where_the_head_begins():
    graph = cl.simulate.random_graph(20, max_component=5, random_state=0)
    for route in lay_out(graph).routes.values():
        cut = shortened(route, 0.4)
        assert np.hypot(*(cut[-1] - route[-1])) == pytest.approx(0.4, abs=0.1)
        np.testing.assert_allclose(cut[0], route[0])
    tiny = np.linspace([0, 0], [0.1, 0], 4)
    assert shortened(tiny, 0.4) is tiny


def test_result_writes_it(tmp_path, result, rows):
    path = result.report(tmp_path / "r.html", data=rows)
    assert path.read_text(encoding="utf-8") == report_html(result, data=rows)
    with pytest.raises(cl.InputError, match="cannot write"):
        result.report(tmp_path / "absent" / "r.html")
    with pytest.raises(cl.InputError, match="max_members"):
        result.report(path, max_members=0)
