"""The likelihood of tables with interventions written out, all parameters at once."""

import numpy as np
import pandas as pd
from scipy.optimize import minimize


def sample_tables(model, targets, rows, seed, kind="perfect"):
    """Rows of a model in which targets are set around 2, or get more noise and a shift."""
    rng = np.random.default_rng(seed)
    names = list(model.names)
    tables = []
    for own, n in zip(targets, rows, strict=True):
        B, places = model.B.copy(), [names.index(name) for name in own]
        noise = rng.normal(size=(n, len(names))) * np.sqrt(model.noise_variances)
        if kind == "perfect":
            B[:, places] = 0
            noise[:, places] = rng.normal(2, 1, size=(n, len(places)))
        else:
            noise[:, places] = 2 * noise[:, places] + 1
        tables.append(pd.DataFrame(noise @ np.linalg.inv(np.eye(len(names)) - B), columns=names))
    return tables


class NaiveLikelihood:
    """Negative log-likelihood of weights, log variances and intercepts, row by row."""

    def __init__(self, graph, tables, targets, kind="perfect", intercepts="shared"):
        self.edges = np.argwhere(graph.adjacency)
        self.p = graph.n_nodes
        names = list(graph.names)
        self.rows = [table[names].to_numpy() for table in tables]
        self.targets = [{names.index(name) for name in own} for own in targets]
        self.kind, self.intercepts = kind, intercepts
        self.variances, self.shifts = {}, {}
        for e, i in self.terms():
            variance, shift = self.keys(e, i)
            self.variances.setdefault(variance, len(self.variances))
            self.shifts.setdefault(shift, len(self.shifts))
        self.size = len(self.edges) + len(self.variances) + len(self.shifts)

    def terms(self):
        for e in range(len(self.rows)):
            for i in range(self.p):
                if self.kind != "perfect" or i not in self.targets[e]:
                    yield e, i

    def keys(self, e, i):
        own = (i, e if i in self.targets[e] else None)
        variance = (i, None) if self.kind == "shift" else own
        return variance, (i, e) if self.intercepts == "table" else own

    def __call__(self, parameters):
        m, v = len(self.edges), len(self.variances)
        weights, logs, shifts = np.split(parameters, [m, m + v])
        Q = np.eye(self.p)
        Q[self.edges[:, 0], self.edges[:, 1]] = -weights
        total = 0.0
        for e, i in self.terms():
            variance, shift = self.keys(e, i)
            rest = self.rows[e] @ Q[:, i] - shifts[self.shifts[shift]]
            log = logs[self.variances[variance]]
            total += 0.5 * (len(rest) * (np.log(2 * np.pi) + log) + rest @ rest * np.exp(-log))
        for e, rows in enumerate(self.rows):
            free = [i for i in range(self.p) if self.kind != "perfect" or i not in self.targets[e]]
            total -= len(rows) * np.linalg.slogdet(Q[np.ix_(free, free)])[1]
        return total

    def minimum(self, n_starts=2, seed=0):
        """The least value found, and its parameters."""
        rng = np.random.default_rng(seed)
        m = len(self.edges)
        found = []
        for s in range(n_starts):
            start = np.zeros(self.size)
            start[:m] = 0.5 * rng.normal(size=m) * (s > 0)
            found.append(minimize(self, start, method="BFGS", options={"gtol": 1e-5}))
        return min(found, key=lambda each: each.fun)
