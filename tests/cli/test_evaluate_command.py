import json


def test_every_metric_is_printed(cyclearn, tmp_path):
    (tmp_path / "true.txt").write_text("a -> b\nc -> b\nb -> d\n")
    (tmp_path / "learned.txt").write_text("a -> b\nb -> c\nb -> d\n")
    printed = cyclearn("evaluate", "learned.txt", "true.txt", "--domains", 20)
    assert (printed.returncode, printed.stderr) == (0, "")
    assert "Hamming distance to the class  1" in printed.stdout
    record = json.loads(
        cyclearn("evaluate", "learned.txt", "true.txt", "--domains", 20, "--json").stdout
    )
    # The collider at b is in every member; the learned graph has c as a child.
    assert record["scores"]["arrowhead"] == {"precision": 2 / 3, "recall": 2 / 3}
    assert record["scores"]["adjacency"] == {"precision": 1, "recall": 1}
    assert record["scores"]["cycle"] == {"precision": None, "recall": None}
    assert (record["shd"], record["class_distance"], record["equivalent"]) == (1, 1, False)
    assert record["class_distance_is_exact"]
    assert record["n_domains"] == 20
    assert 0 <= record["multi_domain_success"] < 1


def test_a_learned_result_can_be_evaluated(cyclearn):
    made = cyclearn("simulate", "-p", 4, "--seed", 1, "-n", 500, "--data", "d.csv",
                    "--out", "t.json")  # fmt: skip
    assert made.returncode == 0
    cyclearn("learn", "d.csv", "--method", "tabu", "--no-posterior", "--out", "r.json")
    result = cyclearn("evaluate", "r.json", "t.json")
    assert (result.returncode, result.stderr) == (0, "")


def test_graphs_on_different_nodes_are_refused(refused, tmp_path):
    (tmp_path / "a.txt").write_text("a -> b\n")
    (tmp_path / "b.txt").write_text("a -> c\n")
    refused("evaluate", "a.txt", "b.txt")
    refused("evaluate", "a.txt", "a.txt", "--eta", "-1")
