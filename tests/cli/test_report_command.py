import hashlib
import json


def test_from_file_to_page(cyclearn, tmp_path):
    cyclearn(
        "simulate", "-p", 5, "--seed", 4, "-n", 800, "--data", "d.csv", "--out", "g.json"
    )  # fmt: skip
    made = cyclearn(
        "report", "d.csv", "-o", "r.html", "--seed", 3, "--no-posterior", "--title", "A <title>"
    )
    assert (made.returncode, made.stderr) == (0, "")
    assert made.stdout.endswith("Report: r.html\n")
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "<h1>A &lt;title&gt;</h1>" in page
    assert hashlib.sha256((tmp_path / "d.csv").read_bytes()).hexdigest() in page
    assert "--seed 3 --no-posterior --title &#x27;A &lt;title&gt;&#x27;" in page
    assert "cl.learn(data, random_state=3)" in page
    again = cyclearn("report", "d.csv", "--starts", 1, "--no-posterior", "--json")
    record = json.loads(again.stdout)
    assert record["path"] == "report.html"
    assert record["learned"]["graph"]["nodes"] == ["X1", "X2", "X3", "X4", "X5"]
    assert (tmp_path / "report.html").is_file()


def test_what_cannot_be_written_is_refused_before_the_search(refused, tmp_path):
    (tmp_path / "d.csv").write_text("a,b\n1,2\n2,1\n0,1\n")
    refused("report", "d.csv", "-o", "no/such/folder/r.html")
    refused("report", "absent.csv")
