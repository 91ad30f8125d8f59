import json

import pytest

ROWS = "id;day;a;b;c\n" + "".join(
    f"{i};2020-01-{i % 28 + 1:02d};{(i * 7) % 11 / 2};{(i * i) % 13};{(i * 5) % 9}\n"
    for i in range(1, 61)
).replace(".", ",")


@pytest.fixture
def table(tmp_path):
    (tmp_path / "t.csv").write_text(ROWS)
    (tmp_path / "holes.csv").write_text(
        "a,b\n" + "".join(f"{i % 7},{'NA' if i % 5 == 0 else i % 3}\n" for i in range(60))
    )


@pytest.mark.usefixtures("table")
def test_check_says_what_is_used_and_warns(cyclearn, refused):
    told = refused("check", "t.csv")
    assert "--drop day" in told
    found = cyclearn("check", "t.csv", "--drop", "day")
    assert found.returncode == 0
    assert "ignored as identifiers (a different value in every row): 'id'" in found.stdout
    assert "60 rows of 3 variables: a, b, c" in found.stdout
    assert "60 rows, counted as 11 because neighbouring rows resemble" in found.stdout
    every = cyclearn("check", "t.csv", "--drop", "id,day", "--n-effective", "all")
    assert "All 60 rows count: as requested" in every.stdout
    assert "semicolons" in found.stdout
    assert "decimal commas" in found.stdout
    record = json.loads(cyclearn("check", "t.csv", "--columns", "a,b", "--json").stdout)
    assert record["columns"] == ["a", "b"]
    holes = cyclearn("check", "holes.csv")
    assert "they are not accepted. Use missing='em' (--missing em)" in holes.stdout
    record = json.loads(cyclearn("check", "holes.csv", "--json", "--missing", "em").stdout)
    assert record["missing"] == {"a": 0, "b": 12}


def test_check_takes_columns_about_rows(cyclearn, tmp_path):
    lines = [f"s{n // 4},{'xy'[n % 2]},{n % 3 + 1},{n * n % 7},{n % 5}" for n in range(60)]
    (tmp_path / "t.csv").write_text("\n".join(["who,by,w,a,b", *lines]) + "\n")
    for option, others in (
        ("--within who", "by,w"),
        ("--weights w", "who,by"),
        ("--groups by", "who,w"),
    ):
        found = cyclearn(
            "check", "t.csv", *option.split(), "--drop", others, "--n-effective", "all"
        )
        assert found.returncode == 0, found.stderr
        assert "60 rows of 2 variables: a, b" in found.stdout
    (tmp_path / "h.csv").write_text("\n".join(["who,by,w,a,b", *lines, "s0,x,1,,2"]) + "\n")
    found = cyclearn("check", "h.csv", "--weights", "w", "--drop", "who,by")
    assert "they are not accepted" in found.stdout


@pytest.mark.usefixtures("table")
def test_learn_and_fit_read_the_same_files(cyclearn, refused, tmp_path):
    assert "missing='em'" in refused("learn", "holes.csv")
    options = ("--starts", 1, "--n-effective", "all", "--no-posterior")
    learned = cyclearn("learn", "holes.csv", "--missing", "em", *options)
    assert learned.returncode == 0
    assert "60 rows, counted as 48 because values are missing." in learned.stdout
    (tmp_path / "g.txt").write_text("a -> b\n")
    fitted = cyclearn("fit", "holes.csv", "g.txt", "--missing", "em")
    assert fitted.returncode == 0
    assert "60 rows, counted as" in fitted.stdout
    (tmp_path / "s.csv").write_text("a,b\n1,0.5\n0.5,1\n")
    assert "--covariance --n" in refused("learn", "s.csv")
    assert "give n_samples" in refused("learn", "s.csv", "--covariance")
    assert "add --covariance" in refused("learn", "s.csv", "--n", 100)
    found = cyclearn("learn", "s.csv", "--covariance", "--n", 100, "--starts", 1, "--no-posterior")
    assert "2 variables, 100 samples" in found.stdout
    assert "the rows could not be checked because only moments were given" in found.stdout
