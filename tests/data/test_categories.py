"""Categories without an order: indicators that are taken as given, or groups."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import cyclearn as cl
from command_line import run_cyclearn
from cyclearn.foundation.errors import InputError


def market(n=400, seed=0):
    rng = np.random.default_rng(seed)
    region = rng.choice(["east", "north", "west"], n)
    price = rng.standard_normal(n) + (region == "west")
    amount = -0.8 * price + rng.standard_normal(n)
    return pd.DataFrame({"price": price, "amount": amount, "region": region})


def by_hand(table):
    return table.drop(columns="region").assign(
        **{f"region={name}": (table["region"] == name).astype(float) for name in ("north", "west")}
    )


GIVEN = ["region=north", "region=west"]


def test_categories_are_indicators_that_are_given():
    found = cl.learn(market(), categories=["region"])
    assert found.exogenous == tuple(GIVEN)
    assert found.score == cl.learn(by_hand(market()), exogenous=GIVEN).score
    assert ("region=west", "price") in found.graph.edges
    assert "Exogenous: region=north, region=west." in str(found)
    assert cl.LearnResult.from_json(found.to_json()) == found
    fitted = cl.fit(found.graph, market(), categories=["region"])
    assert fitted.log_likelihood == found.model.log_likelihood
    assert not any(each.code == "indicator_columns" for each in found.warnings)


def test_groups_holes_resamples_and_the_posterior():
    table = market().assign(half=np.resize(["x", "y"], 400))
    grouped = cl.learn(table, categories=["region"], groups="half", n_starts=1)
    assert grouped.exogenous == tuple(GIVEN)
    resampled = cl.bootstrap(market(), 2, categories=["region"], n_starts=1, random_state=0)
    assert not any(j > 1 for each in resampled.resamples for _, j in each.edges)
    holes = market()
    holes.loc[::9, "region"] = None
    assert cl.fit(grouped.graph, holes, categories=["region"], missing="rows").n_samples == 355
    sampled = cl.posterior(market(), categories=["region"], robust=False, effective_size=50)
    assert sampled.edge_probabilities().to_numpy()[:, 2:].max() == 0


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            {"region": lambda t: [f"r{n}" for n in range(len(t))]},
            r"400 categories.*groups='region'",
        ),
        ({"region": "one"}, "1 categories"),
    ],
)
def test_too_many_and_too_few_are_refused_with_the_remedies(change, words):
    with pytest.raises(InputError, match=words):
        cl.learn(market().assign(**change), categories=["region"])


def test_what_cannot_be_had_is_refused():
    with pytest.raises(InputError, match="'land', which is not a column"):
        cl.learn(market(), categories=["land"])
    with pytest.raises(InputError, match="interventions"):
        cl.learn([market(), market()], interventions=[[], ["price"]], categories=["region"])
    with pytest.raises(InputError, match="one table with named columns"):
        cl.learn([market(), market()], categories=["region"])


def test_a_file_offers_the_choice_in_one_sentence(tmp_path, capsys):
    path = tmp_path / "t.csv"
    market().to_csv(path, index=False)
    with pytest.raises(
        InputError, match=r"3 categories .*--groups region.*categories=\['region'\]"
    ):
        cl.learn(path)
    assert cl.learn(path, categories=["region"]) == cl.learn(market(), categories=["region"])
    options = ["--categories", "region", "--no-posterior"]
    assert "region=west" in run_cyclearn(["learn", path, *options], capsys).stdout
    assert run_cyclearn(["check", path, "--categories", "region"], capsys).returncode == 0


def test_columns_of_text_are_refused_with_the_options_for_categories(tmp_path):
    with pytest.raises(InputError, match=r"or use categories=\['region'\]"):
        cl.learn(market())
    towns = market(100).assign(region=[f"town {n % 20}" for n in range(100)])
    towns.to_csv(tmp_path / "t.csv", index=False)
    with pytest.raises(InputError, match="'region' contains 20 categories") as caught:
        cl.read_table(tmp_path / "t.csv")
    assert "merge rare ones (at most 12 become exogenous indicators)" in str(caught.value)
    assert "groups='region', --groups region" in str(caught.value)
