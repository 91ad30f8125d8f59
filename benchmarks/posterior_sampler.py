"""Accuracy of the posterior's chains, compared with sums over all graphs, and their time.

    python benchmarks/posterior_sampler.py exact --variables 4 --data-sets 6
    python benchmarks/posterior_sampler.py long --variables 10 --data-sets 3
    python benchmarks/posterior_sampler.py speed --variables 10 --data-sets 6 --size 2000
    python benchmarks/posterior_sampler.py ablation
    python benchmarks/posterior_sampler.py truth --runs 20 --factor 50

Each prints rows of the tables in ``benchmarks/results/posterior_sampler.md``; ``long`` compares
with a long run where the graphs are too many to be summed, ``ablation`` takes away one device at a
time, and ``truth`` compares errors of default runs with what their effective sizes promise. Seconds
are those of the processor, on one core.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from itertools import combinations

import numpy as np

import cyclearn as cl
from cyclearn.data import Moments, as_moments
from cyclearn.data.reading import as_tables
from cyclearn.posterior import chain, graph_parts, graph_sample
from cyclearn.posterior import learned_proposals as proposals
from cyclearn.posterior.graph_prior import posterior_penalty
from cyclearn.posterior.sampler_effort import SamplerEffort
from cyclearn.search.options import SearchOptions

# These pages are about the plain posterior.
posterior = partial(cl.posterior, robust=False)

# Graphs whose share of the sum is below this are not looked at, all of them together far below.
NEGLIGIBLE = 1e-9
# A standard error of 0.003 at most.
LONG_RUN = {"effective_size": 30_000, "max_steps": 20_000_000}
# Variables, rows and seed; those with ten variables and 200 rows are the hardest known.
TRUTH = [(10, 200, seed) for seed in (6, 9, 15, 18, 33, 36)]
TRUTH += [(6, 100, 0), (6, 200, 1), (6, 1_000, 2), (6, 10_000, 3)]
TRUTH += [(8, 100, 0), (8, 200, 1), (8, 1_000, 2), (8, 10_000, 3)]
TRUTH += [(10, 100, 0), (10, 1_000, 1), (10, 10_000, 2)]
TRUTH += [(12, 100, 0), (12, 1_000, 1), (12, 10_000, 2)]
ABLATION = [(10, 200, 6), (10, 200, 33), (10, 200, 36), (20, 200, 3), (50, 1_000, 1)]
N_LOCAL = 11
# Kinds of local moves in other proportions than the library's: another chain for the same
# distribution. With four times as many assembled graphs samples come more slowly.
OTHER_SHARES = (8, 24, 12, 3, 24, 10, 6, 12, 3, 12, 10, 60, 12)


def problem_data(p: int, n: int, seed: int) -> tuple[cl.DirectedGraph, Moments]:
    """A graph of the generator and data from it."""
    graph = cl.simulate.random_graph(p, max_component=min(p, 5), random_state=seed)
    model = cl.simulate.random_model(graph, random_state=seed)
    return graph, as_moments(model.sample(n, random_state=seed))


def graphs_with(p: int, n_edges: int) -> Iterator[np.ndarray]:
    pairs = np.array([(i, j) for i in range(p) for j in range(p) if i != j])
    for chosen in combinations(range(len(pairs)), n_edges):
        A = np.zeros((p, p), dtype=np.uint8)
        A[tuple(pairs[list(chosen)].T)] = 1
        yield A


def summed(moments: Moments, penalty: float) -> np.ndarray:
    """Edge probabilities by summing over all graphs, fewest edges first."""
    p, n = moments.n_variables, moments.n_samples
    problem = SearchOptions(penalty=penalty).problem(as_tables(moments))
    score = problem.score()
    saturated = 0.5 * np.linalg.slogdet(moments.correlation)[1] * n
    best = np.inf
    scored: list[tuple[float, np.ndarray]] = []
    for n_edges in range(p * (p - 1) + 1):
        if saturated + penalty * n_edges > best - np.log(NEGLIGIBLE):
            break
        for A in graphs_with(p, n_edges):
            value = score.value(A) * n
            if value < best - np.log(NEGLIGIBLE):
                scored.append((value, A))
                best = min(best, value)
    total, edges = 0.0, np.zeros((p, p))
    known: dict[bytes, bool] = {}
    for value, A in scored:
        weight = np.exp(best - value)
        if weight > NEGLIGIBLE and _is_stable(moments, A, known):
            total += weight
            edges += weight * A
    return edges / total


def _is_stable(moments: Moments, A: np.ndarray, known: dict[bytes, bool]) -> bool:
    """Whether each component, given its parents, has a stable best fit."""
    for nodes in cl.DirectedGraph(A.astype(bool)).component_indices:
        if len(nodes) > 1:
            alone = np.zeros_like(A)
            alone[:, list(nodes)] = A[:, list(nodes)]
            key = alone.tobytes()
            if key not in known:
                graph = cl.DirectedGraph(alone.astype(bool), moments.names)
                known[key] = cl.fit(graph, moments).model.spectral_radius < 1 - 1e-5
            if not known[key]:
                return False
    return True


def compare(p: int, n_sets: int, first_seed: int, is_summed: bool) -> None:
    heads = ["p", "n", "seed", "edges open", "error, defaults", "effective size", "seconds"]
    if is_summed:
        heads += ["error, long run", "effective size", "seconds"]
    print("| " + " | ".join(heads) + " |\n|" + "---|" * len(heads))
    for seed in range(first_seed, first_seed + n_sets):
        n = (200, 1_000, 10_000)[seed % 3]
        _, moments = problem_data(p, n, seed)
        if is_summed:
            expected = summed(moments, posterior_penalty(n, p))
        else:
            # Chains of another seed, worth five times those of the defaults.
            options = LONG_RUN | {"effective_size": 10_000}
            expected = posterior(moments, random_state=seed + 10_000, **options).edges
        cells = [str(((expected >= 0.05) & (expected <= 0.95)).sum())]
        for options in ({}, LONG_RUN) if is_summed else ({},):
            begun = time.process_time()
            found = posterior(moments, random_state=seed, **options)
            seconds = time.process_time() - begun
            error = np.abs(found.edges - expected).max()
            cells += [f"{error:.4f}", f"{found.effective_size:.0f}", f"{seconds:.1f}"]
        print(f"| {p} | {n} | {seed} | " + " | ".join(cells) + " |", flush=True)


def speed(p: int, n_sets: int, first_seed: int, size: int, n_resamples: int) -> None:
    print("| p | n | seed | seconds | steps per chain | effective size | R̂ | 100 resamples |")
    print("|---|---|---|---|---|---|---|---|")
    for seed in range(first_seed, first_seed + n_sets):
        n = (200, 1_000, 10_000)[seed % 3]
        _, moments = problem_data(p, n, seed)
        begun = time.process_time()
        found = posterior(moments, random_state=seed, effective_size=size)
        seconds, resampling = time.process_time() - begun, "–"
        if n_resamples:
            begun = time.process_time()
            cl.bootstrap(moments, n_resamples, n_starts=1)
            resampling = f"{(time.process_time() - begun) * 100 / n_resamples:.0f}"
        print(
            f"| {p} | {n} | {seed} | {seconds:.1f} | {found.n_steps:,} | "
            f"{found.effective_size:.0f} | {found.r_hat:.3f} | {resampling} |",
            flush=True,
        )


@contextmanager
def effort(**numbers: object) -> Iterator[None]:
    """Let chains work with other numbers than those of the library."""
    modules = (chain, graph_parts, graph_sample, proposals)
    before = chain.EFFORT
    for module in modules:
        module.EFFORT = replace(before, **numbers)
    yield
    for module in modules:
        module.EFFORT = before


def without(*places: int) -> tuple[int, ...]:
    """Shares of proposals without those at some places."""
    shares = SamplerEffort().proposal_shares
    return tuple(0 if place in places else share for place, share in enumerate(shares))


def ablation() -> None:
    """Seconds and effective size with all devices and without one of them each."""
    jump, assemble = N_LOCAL, N_LOCAL + 1
    variants = {
        "all": {},
        "without assembled graphs": {"proposal_shares": without(assemble)},
        "without jumps": {"proposal_shares": without(jump)},
        "all pairs alike": {"uniform_share": 1.0},
        "without loops of rejected proposals": {"noted_loss": 0.0},
        "local moves only": {"proposal_shares": without(jump, assemble)},
    }
    print("| p | n | seed | proposals | seconds | steps per chain | effective size | R̂ |")
    print("|---|---|---|---|---|---|---|---|")
    for p, n, seed in ABLATION:
        _, moments = problem_data(p, n, seed)
        for name, numbers in variants.items():
            begun = time.process_time()
            with effort(**numbers):
                size = 2_000 if p <= 12 else 200
                found = posterior(moments, random_state=seed, effective_size=size)
            seconds = time.process_time() - begun
            print(
                f"| {p} | {n} | {seed} | {name} | {seconds:.1f} | {found.n_steps:,} | "
                f"{found.effective_size:.0f} | {found.r_hat:.3f} |",
                flush=True,
            )


def reference(moments: Moments, seed: int, size: int, *, is_hard: bool) -> tuple[cl.Posterior, str]:
    """A long run of other chains: local moves only, or where these do not agree other shares."""
    wanted = {"effective_size": size, "max_steps": 80_000_000, "random_state": seed}
    if not is_hard:
        with effort(proposal_shares=without(N_LOCAL, N_LOCAL + 1)):
            expected = posterior(moments, **wanted)
        if expected.converged:
            return expected, "local moves"
    with effort(proposal_shares=OTHER_SHARES):
        return posterior(moments, **wanted), "other local shares"


def truth(first: int, n_sets: int, n_runs: int, factor: int) -> None:
    """Errors of default runs in units of what their effective sizes promise.

    Against chains that neither jump nor assemble graphs, with as many times the effective size, or
    where these do not come to agree (ten variables are known for it) against chains that propose in
    other proportions. The mean of the runs is off by its own error and by that of the
    reference.
    """
    heads = ["p", "n", "seed", "edges open", "reference", "its size", "its R̂", "runs", "seconds"]
    heads += ["rms error", "rms error of the mean", "largest error"]
    print("| " + " | ".join(heads) + " |\n|" + "---|" * len(heads))
    for p, n, seed in TRUTH[first : first + n_sets]:
        _, moments = problem_data(p, n, seed)
        begun = time.process_time()
        runs = [posterior(moments, random_state=1_000 + run) for run in range(n_runs)]
        seconds = (time.process_time() - begun) / n_runs
        is_hard = p >= 10
        expected, name = reference(moments, seed, factor * runs[0].wanted_size, is_hard=is_hard)
        is_open = (expected.edges >= 0.05) & (expected.edges <= 0.95)
        share = expected.edges[is_open]
        errors = np.array([run.edges[is_open] - share for run in runs])
        sizes = np.array([run.effective_size for run in runs])
        spread = np.sqrt(share * (1 - share) / sizes[:, None])
        its_own = share * (1 - share) / expected.effective_size
        of_mean = errors.mean(axis=0) / np.sqrt((spread**2).sum(axis=0) / n_runs**2 + its_own)
        rms, rms_of_mean = (np.sqrt(np.mean(each**2)) for each in (errors / spread, of_mean))
        print(
            f"| {p} | {n} | {seed} | {is_open.sum()} | {name} | {expected.effective_size:.0f} | "
            f"{expected.r_hat:.3f} | {n_runs} | {seconds:.1f} | {rms:.2f} | {rms_of_mean:.2f} | "
            f"{np.abs(errors).max():.3f} |",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("part", choices=["exact", "long", "speed", "ablation", "truth"])
    parser.add_argument("--variables", type=int, default=4)
    parser.add_argument("--data-sets", type=int, default=6)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--size", type=int, default=200)
    parser.add_argument("--resamples", type=int, default=0)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--factor", type=int, default=50)
    given = parser.parse_args()
    # Kernels are compiled, or read from disk, before anything is timed.
    posterior(problem_data(3, 100, 0)[1], effective_size=10)
    warnings.simplefilter("ignore", cl.SamplingWarning)
    if given.part in ("exact", "long"):
        compare(given.variables, given.data_sets, given.first_seed, given.part == "exact")
    elif given.part == "ablation":
        ablation()
    elif given.part == "truth":
        truth(given.first_seed, given.data_sets, given.runs, given.factor)
    else:
        speed(given.variables, given.data_sets, given.first_seed, given.size, given.resamples)


if __name__ == "__main__":
    main()
