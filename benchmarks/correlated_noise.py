"""Maximum likelihood with correlated noise terms compared with lavaan on ten models.

    python benchmarks/correlated_noise.py > benchmarks/results/correlated_noise.md

lavaan's numbers are golden values of the tests; ``tests/models/golden/correlated_cases.py`` says
how they are made.
"""

from __future__ import annotations

import json
from pathlib import Path
from time import perf_counter

from environment import describe_run

import cyclearn as cl
from cyclearn.models.correlated_noise import fit_correlated

GOLDEN = Path(__file__).parent.parent / "tests" / "models" / "golden"


def main() -> None:
    """Print a table in Markdown."""
    cases = json.loads((GOLDEN / "correlated_cases.json").read_text())
    lavaan = json.loads((GOLDEN / "lavaan_correlated.json").read_text())
    versions = lavaan["versions"]
    print("# Correlated noise: maximum likelihood compared with lavaan\n")
    print(describe_run("benchmarks/correlated_noise.py"))
    print(
        f"The fits are compared with lavaan {versions['lavaan']} in R {versions['R']}. The "
        "estimates compared are weights and covariances.\n"
    )
    columns = "model | n | edges | pairs | log-likelihood | of lavaan | relative difference"
    print(f"| {columns} | largest difference of an estimate | ms |\n{'|--' * 9}|")
    for case, golden in zip(cases, lavaan["cases"], strict=True):
        graph = cl.DirectedGraph.from_edges(case["edges"], case["names"])
        moments = cl.Moments(case["covariance"], case["n"], names=case["names"])
        pairs = [tuple(pair) for pair in case["pairs"]]
        fit_correlated(graph, moments, pairs)
        begun = perf_counter()
        found = fit_correlated(graph, moments, pairs)
        seconds = perf_counter() - begun
        gaps = [0.0]
        for label, value in golden["estimates"].items():
            if "->" in label:
                a, b = (graph.index(each) for each in label.replace("<", "").split(" -> "))
                own = found.omega[a, b] if "<->" in label else found.B[a, b]
                gaps.append(abs(own - value))
        theirs = golden["measures"]["logl"]
        gap = abs(found.log_likelihood - theirs) / abs(theirs)
        print(
            f"| {case['name'].replace('_', ' ')} | {case['n']} | {graph.n_edges} | {len(pairs)} "
            f"| {found.log_likelihood:.6f} | {theirs:.6f} | {gap:.0e} | {max(gaps):.0e} "
            f"| {1000 * seconds:.1f} |"
        )


if __name__ == "__main__":
    main()
