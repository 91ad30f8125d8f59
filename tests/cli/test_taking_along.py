"""Saved results on the command line: reports and pictures without learning again, and suffixes."""

import pytest

import cyclearn as cl


@pytest.fixture
def saved(tmp_path):
    truth = cl.LinearGaussianModel([[0, 0, 0.8], [0, 0, 0.8], [0, 0, 0]], [1, 1, 1], list("abc"))
    data = truth.sample(300, random_state=0)
    data.to_csv(tmp_path / "data.csv", index=False)
    result = cl.learn(data)
    result.save(tmp_path / "result.json")
    cl.bootstrap(data, n_resamples=2, method="hill-climbing").save(tmp_path / "resampled.json")
    return result


def test_a_saved_result_becomes_a_report(cyclearn, refused, tmp_path, saved):
    ended = cyclearn("report", "result.json", "-o", "r.html", "--with", "resampled.json")
    assert ended.returncode == 0
    assert str(saved) in ended.stdout
    assert "learned again from 2 resamples" in (tmp_path / "r.html").read_text()
    assert "omit it" in refused("report", "result.json", "--penalty", "ebic")
    assert "omit it" in refused("report", "result.json", "--bootstrap", "3")
    assert "applies to tables" in refused("report", "result.json", "--sep", ";")
    assert "BootstrapResult" in refused("report", "resampled.json")
    assert "--with takes" in refused("report", "result.json", "--with", "result.json")


@pytest.mark.usefixtures("saved")
def test_suffixes_are_honoured_or_refused(cyclearn, refused, tmp_path):
    for name in ("g.foo", "g.xlsx", "g"):
        assert "name the file" in refused("learn", "data.csv", "--out", name)
    assert "name the file .html" in refused("report", "data.csv", "-o", "r.pdf")
    assert "name the file" in refused("posterior", "data.csv", "--out", "p.png")
    assert "name the file" in refused("plot", "result.json", "-o", "p.json")
    assert "name the file" in refused("simulate", "--model", "m.png")
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        "data.csv",
        "resampled.json",
        "result.json",
    ]
    ended = cyclearn(
        "learn", "data.csv", "--method", "hill-climbing", "--no-posterior", "--out", "g.png"
    )
    assert ended.returncode == 0
    assert (tmp_path / "g.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("source", ["result.json", "resampled.json", "graph.txt"])
def test_pictures_of_what_was_saved(cyclearn, tmp_path, saved, source):
    cl.write_graph(saved.graph, tmp_path / "graph.txt")
    assert cyclearn("plot", source, "-o", "picture.svg").returncode == 0
    assert b"<svg" in (tmp_path / "picture.svg").read_bytes()


@pytest.mark.usefixtures("saved")
def test_pictures_of_classes_and_for_latex(cyclearn, refused, tmp_path):
    assert cyclearn("plot", "result.json", "--class", "-o", "class.pdf").returncode == 0
    assert cyclearn("plot", "result.json", "--standardised", "-o", "g.tikz").returncode == 0
    assert r"\begin{tikzpicture}" in (tmp_path / "g.tikz").read_text()
    assert "TikZ" in refused("plot", "resampled.json", "-o", "g.tikz")
    assert "learned result" in refused("plot", "resampled.json", "--standardised")
