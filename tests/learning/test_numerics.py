"""Units, sizes and systems at the edge: finite numbers, or one clear error that says why not."""

import warnings

import numpy as np
import pytest

import cyclearn as cl


def feedback(gain):
    B = np.zeros((4, 4))
    B[0, 1], B[1, 0], B[1, 2], B[2, 3] = 1.0, gain, 0.7, 0.5
    return cl.LinearGaussianModel(B, np.ones(4), ["a", "b", "c", "d"])


MODEL = feedback(-0.6)
ROWS = MODEL.sample(500, random_state=0)
UNITS = {
    "1e6": ROWS * 1e6,
    "1e-6": ROWS * 1e-6,
    "1e150": ROWS * 1e150,
    "1e-150": ROWS * 1e-150,
    "a unit for each": ROWS * np.array([1e150, 1e-150, 1e6, 1e-6]),
    "float32": ROWS.astype(np.float32),
}
EDGES = {
    "gain 0.999": feedback(0.999).sample(500, random_state=0),
    "gain -0.999": feedback(-0.999).sample(500, random_state=0),
    "nearly singular": feedback(0.99999).sample(500, random_state=0),
    "3 rows": ROWS[:3],
    "10 million rows": cl.Moments(MODEL.covariance, 10**7, names=MODEL.names),
    "nearly collinear": ROWS.assign(d=2 * ROWS["c"] + 1e-2 * ROWS["d"]),
}
SINGULAR = {
    "singular": feedback(0.999999).sample(500, random_state=0),
    "collinear": ROWS.assign(d=2 * ROWS["c"] + 1e-6 * ROWS["d"]),
}
CALLS = {
    "learn": lambda data: [(found := cl.learn(data)).score, *found.model.B.ravel()],
    "fit": lambda data: [
        (found := cl.fit(MODEL.graph, data)).log_likelihood,
        *found.B.ravel(),
        *found.noise_variances,
    ],
    "posterior": lambda data: (
        cl.posterior(data, effective_size=20, max_steps=2000).edge_probabilities().to_numpy()
    ),
    "bootstrap": lambda data: (
        cl.bootstrap(data, 2, n_starts=1).edges.select_dtypes("number").to_numpy()
    ),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
@pytest.mark.parametrize("data", [*UNITS.values(), *EDGES.values()], ids=[*UNITS, *EDGES])
def test_numbers_are_finite(data, call):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cl.SamplingWarning)
        assert np.isfinite(call(data)).all()


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
@pytest.mark.parametrize("data", SINGULAR.values(), ids=SINGULAR)
def test_what_is_singular_is_refused_by_name(data, call):
    with pytest.raises(cl.InputError, match="exact linear function"):
        call(data)


@pytest.mark.parametrize("data", UNITS.values(), ids=UNITS)
def test_units_change_no_edge(data):
    assert cl.learn(data).graph == cl.learn(ROWS).graph
