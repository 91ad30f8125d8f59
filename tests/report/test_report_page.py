"""The report as text: complete, escaped, repeatable, and true to the result."""

import json
import re
from collections import Counter
from dataclasses import replace
from html.parser import HTMLParser
from importlib.resources import files
from types import SimpleNamespace

import numpy as np
import pytest

import cyclearn as cl
from cyclearn.classes.class_statements import SAME
from cyclearn.classes.seating import Seating
from cyclearn.report import report_html
from cyclearn.report.findings import find_out
from cyclearn.report.fit_words import grade, verdict
from cyclearn.report.graph_section import picture
from cyclearn.results.edge_rows import EdgeRow

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
def source(result, rows):
    return report_html(result, data=rows)


@pytest.fixture(scope="module")
def page(source):
    return Page(source)


def test_says_what_was_found(page, result):
    assert "Feedback was found among price and quantity." in page.words
    assert "2,000 rows of 4 variables: 4 edges." in page.words
    agreement = "2 graphs fit these data equally well, and 2 of 4 edges are in every one of"
    assert agreement in page.words
    assert agreement in str(result)
    assert "5 of 5 starts reached this score." in page.words
    for (a, b), row in zip(result.graph.edges, result.model.summary().itertuples(), strict=False):
        shown = f"{row.estimate:.3f} {row.std_error:.3f}".replace("-", "−")
        assert f"{a} → {b} {shown}" in page.words
    assert f"RMSEA {result.model.fit_indices.rmsea:.3f} good" in page.words
    effect = result.model.model.total_effects().loc["costs", "quantity"]
    assert f"{effect:.3f}".replace("-", "−") in page.words
    assert f"cyclearn {cl.__version__}" in page.words


def test_same_input_same_bytes(result, rows, source):
    again = cl.LearnResult.from_json(result.to_json(timings=True))
    assert report_html(again, data=rows) == source


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


def test_one_scale_of_type_and_of_spacing():
    """In the report and in the application."""
    for place in ("report/report.css", "app/page/app.css"):
        style = files("cyclearn").joinpath(*place.split("/")).read_text()
        sizes = re.findall(r"font(?:-size)?:\s*([\d.]+)rem", style)
        assert {float(each) for each in sizes} <= {0.75, 0.875, 1, 1.125, 1.375, 1.875}
        rules = re.findall(r"[\s;{](?:margin|padding|gap)[a-z-]*:\s*([^;}]+)", style)
        spaces = {float(each) for rule in rules for each in re.findall(r"([\d.]+)rem", rule)}
        assert spaces <= {0.125, 0.25, 0.375, 0.5, 0.75, 1, 1.25, 1.5, 2, 3}


def test_names_are_text_wherever_they_stand():
    result = cl.learn(model(HOSTILE).sample(2_000, random_state=0), n_starts=1)
    source = report_html(result, title="<i>&</i>", command=["cyclearn", "<u>", "a b"])
    page = Page(source)
    # The same elements as with harmless names: nothing in a name became markup. Some forms to save
    # cannot hold these names, and have no button.
    harmless = cl.learn(model(list("abcd")).sample(2_000, random_state=0), n_starts=1)
    plain = Page(report_html(harmless, title="t", command=["c"]))
    tags, harmless_tags = ([t for t, _ in each.elements if t != "button"] for each in (page, plain))
    assert tags == harmless_tags
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
    # Those of the browser of members are filled by its script.
    filled = [label for label in labels if "same" in label or "absent" in label]
    assert len(filled) == len(union)
    assert sorted(label for label in labels if label not in filled) == [
        "weight negative inside",
        "weight positive",
        "weight positive",
        "weight positive inside",
    ]


def test_members_are_those_of_the_class():
    # The paper's example on four nodes, whose class has eight members.
    B = [[0, 0, 0.7, 0], [0, 0, 0, 0.6], [0, -0.7, 0, 0], [0.6, 0, 0.5, 0]]
    truth = cl.LinearGaussianModel(B, [1, 1, 1, 1])
    moments = cl.Moments(truth.covariance, 5_000)
    learned = cl.learn(moments, method="hill-climbing", start=truth.graph)
    # A class with an acyclic member ties with it, and is shown.
    assert any(truth.graph in cl.equivalence_class(tied) for tied in learned.alternatives)
    learned = replace(learned, graph=truth.graph, fitted=cl.fit(truth.graph, moments))
    learned = replace(learned, alternatives=())
    assert learned.equivalence_class.size == 8
    found = find_out(learned, None, 200)
    assert found.listing.found.selection == "all"
    assert {m.graph for m in found.members} == set(learned.equivalence_class)
    assert found.members[0].graph == learned.graph
    for member in found.members:
        edges = set(learned.graph.edges) - set(member.removed) | set(member.added)
        assert edges == set(member.graph.edges)
        assert member.is_stable == cl.fit(member.graph, learned.model.moments).is_stable
    assert found.shared == set.intersection(*(set(m.graph.edges) for m in found.members))
    cut = find_out(learned, None, 3)
    assert len(cut.members) <= 3
    assert cut.listing.found.selection == "sampled"
    assert cut.members[0].graph == learned.graph
    source = report_html(learned, max_members=3)
    assert "3 of 8 graphs are listed here" in Page(source).words
    data = re.search(r'id="member-data">(.*?)</script>', source)
    assert len(json.loads(data[1])["members"]) == 3


def test_verdicts_on_pairs_follow_from_the_members():
    for seed in range(3):
        graph = cl.simulate.random_graph(5, max_component=4, random_state=seed)
        truth = cl.simulate.random_model(graph, random_state=seed)
        learned = cl.learn(cl.Moments(truth.covariance, 5_000), method="hill-climbing")
        found = find_out(learned, None, 10**6)
        classes = [learned.equivalence_class, *map(cl.equivalence_class, learned.alternatives)]
        members = [set(member.edges) for each in classes for member in each]
        assert found.size == len(found.members) == len(members) == learned.n_equally_good
        joined = {frozenset(edge) for member in members for edge in member}
        assert {frozenset((p.a, p.b)) for p in found.result.verdicts} == joined
        for pair in found.result.verdicts:
            ahead, back = (pair.a, pair.b), (pair.b, pair.a)
            ways = Counter((ahead in m, back in m) for m in members)
            numbers = (ways[True, False], ways[False, True], ways[True, True], ways[False, False])
            assert pair.counts == numbers
            assert pair.can_vanish == (numbers[3] > 0)
            shared = [e for e in (ahead, back) if all(e in m for m in members)]
            assert list(pair.shared_edges) == shared
            possible = [e for e in (ahead, back) if any(e in m for m in members)]
            assert list(pair.possible_edges) == possible
            settled = len(ways) == 1
            turns = not pair.can_vanish and not shared
            open_edge = "direction differs" if turns else "in some"
            assert pair.verdict == ("in every equally good graph" if settled else open_edge)
            for edge in possible:
                assert pair.edge_verdict(edge) == (
                    "in every equally good graph" if edge in shared else open_edge
                )
                assert pair.count(edge) == sum(edge in m for m in members)


def test_members_against_the_knowledge_are_no_answers():
    truth = cl.LinearGaussianModel([[0, 0.8, 0], [0, 0, 0.8], [0, 0, 0]], [1, 1, 1])
    moments = cl.Moments(truth.covariance, 1_000)
    free = find_out(cl.learn(moments), None, 200)
    assert (free.size, len(free.shared)) == (3, 0)
    learned = cl.learn(moments, knowledge=cl.Knowledge(exogenous=["X1"]))
    found = find_out(learned, None, 200)
    # Only X1 → X2 → X3 leaves X1 without a cause and makes no collider of X2.
    assert (found.size, found.shared) == (1, {("X1", "X2"), ("X2", "X3")})
    words = Page(report_html(learned)).words
    assert "No other graph that agrees with the knowledge fits these data equally" in words
    tiers = cl.learn(moments, knowledge=cl.Knowledge(forbidden=[("X3", "X2")]))
    found = find_out(tiers, None, 200)
    assert (found.size, found.shared) == (2, {("X2", "X3")})
    assert "2 graphs that agree with the knowledge fit these" in Page(report_html(tiers)).words


def test_a_class_that_cannot_be_counted_is_said_so(monkeypatch, result):
    def refuse(*_):
        raise cl.LimitError("too many")

    shared = find_out(result, None, 200).shared
    monkeypatch.setattr(Seating, "count", refuse)
    result = replace(result)
    assert find_out(result, None, 200).shared == shared
    words = Page(report_html(result)).words
    assert "An unknown number of graphs fit these data equally well. They generate exactly" in words
    assert "in some in every not adjacent in some" in words


def test_warnings_reach_the_page(rows):
    series = rows.cumsum()
    words = Page(report_html(cl.learn(series, n_starts=1), data=series)).words
    assert "Before you rely on this, see the warnings : dependent rows" in words
    assert cl.check_data(series)[0].message in words


def test_without_rows_it_says_who_checked_them(result, page, tmp_path):
    checked = "The rows were checked when the graph was learned"
    loaded = cl.load(result.save(tmp_path / "result.json"))
    assert checked in Page(report_html(loaded)).words
    assert checked not in page.words
    moments = cl.learn(cl.Moments([[2.0, 1.0], [1.0, 2.0]], 100))
    assert "Only means and covariances are known, so dependence" in Page(report_html(moments)).words


def test_weights_of_opposite_signs_are_not_shown_as_their_mean():
    rows = {
        name: cl.LinearGaussianModel([[0, weight], [0, 0]], [1, 1], list("xy")).sample(
            200, random_state=0
        )
        for name, weight in (("one", 0.8), ("two", -0.7))
    }
    learned = cl.learn(rows)
    table = learned.edge_table()
    assert table["signs_differ"].tolist() == table["in_graph"].tolist()
    page = Page(report_html(learned))
    assert "positive in some groups, negative in others" in page.words
    label = next(text for text in page.words.split("\n") if "one: 0" in text)
    assert re.search(r"one: 0\.\d+, two: −0\.\d+", label)
    assert any("one: 0" in text.get_text() for text in learned.plot().texts)


def test_rows_of_something_else_are_refused(result, rows):
    for wrong in (rows.head(1_999), rows * 1.01, rows.rename(columns={"costs": "weather"})):
        with pytest.raises(cl.InputError):
            report_html(result, data=wrong)
    # The order of columns does not matter.
    assert "Before you rely" not in report_html(result, data=rows[rows.columns[::-1]])


@pytest.mark.parametrize("edges", [[], [(0, 1)]])
def test_small_graphs(edges):
    graph = cl.DirectedGraph.from_edges(edges, names=["a", "b"])
    truth = cl.simulate.random_model(graph, random_state=0)
    result = cl.learn(truth.sample(500, random_state=0))
    assert result.graph.n_edges == len(edges)
    words = Page(report_html(result)).words
    if not edges:
        assert "No other graph fits these data equally well" in words
        assert "there are no coefficients" in words
    else:
        assert "Direction differs (1)" in words
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
    assert "instead of" in words


def test_fit_in_words():
    assert [grade("rmsea", x) for x in (0.05, 0.051, 0.081)] == ["good", "fair", "poor"]
    assert [grade("cfi", x) for x in (0.95, 0.94, 0.89)] == ["good", "fair", "poor"]
    truth = model()
    good = cl.fit(truth.graph, truth.sample(1_000, random_state=0))
    assert verdict(good.fit_indices).endswith("well.")
    bad = cl.fit(cl.DirectedGraph(np.zeros((4, 4)), truth.names), good.moments)
    assert "poorly" in verdict(bad.fit_indices)


def test_result_writes_it(tmp_path, result, rows, source):
    path = result.report(tmp_path / "r.html", data=rows)
    assert path.read_text(encoding="utf-8") == source
    with pytest.raises(cl.InputError, match="cannot write"):
        result.report(tmp_path / "absent" / "r.html")
    with pytest.raises(cl.InputError, match="max_members"):
        result.report(path, max_members=0)


def cells(source, caption):
    """Rows of the table with a caption, each as the texts of its cells."""
    grid = re.search(rf"<caption>{caption}.*?</table>", source, re.DOTALL)[0]
    rows = re.findall(r"<tr><th scope=\"row\">(.*?)</tr>", grid, re.DOTALL)
    return [re.split(r"</t[hd]>(?:<td[^>]*>)?", row)[:-1] for row in rows]


def test_effects_over_the_class_are_those_of_each_pair():
    names = ["a", "b", "c", "d"]
    B = np.zeros((4, 4))
    B[0, 1], B[1, 2], B[2, 3] = 0.7, 0.8, -0.5
    truth = cl.LinearGaussianModel(B, [1, 2, 1, 1], names)
    learned = cl.learn(cl.Moments(truth.covariance, 2_000, names=names))
    rows = cells(report_html(learned), "Total effects over 4 stable graphs")
    assert len(rows) == 12
    for pair, low, high, share, verdict_ in rows:
        effects = cl.class_effects(learned.graph, learned.model.moments, *pair.split(" → "))
        expected = [f"{value:.3f}".replace("-", "−") for value in effects.interval]
        assert [low, high] == ["0" if value == "0.000" else value for value in expected]
        values = [each.total_effect for each in effects.effects]
        assert share == f"{np.mean(np.abs(values) > 1e-9):.0%}"
        # In a chain some member turns every edge.
        assert verdict_ in {"positive or none", "negative or none"}


def test_frequencies_over_resamples(rows, page):
    learned = cl.learn(rows, bootstrap=5, n_starts=1)
    source = report_html(learned, data=rows)
    table = learned.bootstrap.edges
    shown = cells(source, "Share of resamples with an edge")
    assert len(shown) == len(table)
    for (edge, learned_share, every, some), row in zip(shown, table.itertuples(), strict=True):
        assert edge == f"{row.source} → {row.target}"
        numbers = (row.frequency, row.compelled, row.possible)
        assert [learned_share, every, some] == [f"{x:.0%}" for x in numbers]
    ((loop, share), *_) = cells(source, "The most frequent feedback loops")
    most = learned.bootstrap.cycles.iloc[0]
    assert loop == " → ".join([*most.cycle, most.cycle[0]])
    assert share == f"{most.frequency:.0%}"
    assert "Not computed." in page.words


def test_of_very_many_edges_the_strongest_come_first():
    names = [f"v{n}" for n in range(16)]
    graph = cl.DirectedGraph.from_edges([(a, b) for a in names[:8] for b in names[8:]], names)
    weights = np.arange(256.0).reshape(16, 16) / 256
    rows = [
        EdgeRow(a, b, True, w, 0.1, w, SAME, 1, None, None)
        for a, b in graph.edges
        for w in [weights[graph.index(a), graph.index(b)]]
    ]
    result = SimpleNamespace(groups=(), posterior=None, bootstrap=None, edge_rows=rows)
    found = SimpleNamespace(
        graph=graph,
        standardised=weights,
        shared=frozenset(graph.edges),
        loops=(),
        result=result,
    )
    page = Page(str(picture(found)))
    drawn = [
        each["class"] for each in page.all("g") if each.get("class", "").startswith("edge pos")
    ]
    assert Counter(drawn) == {"edge positive weak": 4, "edge positive": 60 + 1}  # one in the legend
    assert "show all 64 edges, not only the 60 strongest" in page.words
