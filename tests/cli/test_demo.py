import shlex
from html import unescape


def test_ends_with_what_was_found_and_the_path_of_the_report(cyclearn, tmp_path, monkeypatch):
    monkeypatch.setattr("cyclearn.cli.demo._RESAMPLES", 2)
    shown = cyclearn("demo")
    assert (shown.returncode, shown.stderr) == (0, "")
    assert shown.stdout.splitlines()[-1] == (
        "Feedback was found among price, quantity and stock; the learned class is the class of "
        "the true graph. Report: demo/report.html"
    )
    path = tmp_path / "demo" / "report.html"
    page = path.read_bytes()
    # The page says how it was made; doing so makes it again, to the byte.
    command = unescape(page.decode().split("The command</h3>")[1].split(">")[1].split("<")[0])
    path.unlink()
    assert cyclearn(*shlex.split(command)[1:]).returncode == 0
    assert path.read_bytes() == page
