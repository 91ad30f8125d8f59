def test_ends_with_what_was_found_and_the_path_of_the_report(cyclearn, tmp_path):
    shown = cyclearn("demo")
    assert (shown.returncode, shown.stderr) == (0, "")
    assert shown.stdout.splitlines()[-1] == (
        "Feedback was found among price, quantity and stock; the learned class is the class of "
        "the true graph. Report: demo/report.html"
    )
    page = (tmp_path / "demo" / "report.html").read_text(encoding="utf-8")
    assert "cyclearn report demo/market.csv -o demo/report.html --bootstrap 10" in page
