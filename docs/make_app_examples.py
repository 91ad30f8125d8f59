"""Make the examples of ``cyclearn app``: ``src/cyclearn/app/examples``.

Needs statsmodels and palmerpenguins, which ship the real ones. The others are simulated.
``src/cyclearn/app/page/examples.js`` says what each is, where it is from and under which licence,
and what is chosen on the page when it is opened.
"""

from pathlib import Path

import numpy as np
import pandas as pd

import cyclearn as cl
from cyclearn.models.example import EXAMPLE_ROWS, MARKET

FOLDER = Path(__file__).parent.parent / "src" / "cyclearn" / "app" / "examples"


def economy() -> pd.DataFrame:
    """Changes from quarter to quarter of the economy of the United States."""
    from statsmodels.datasets import macrodata

    quarters = macrodata.load_pandas().data
    changes = {
        "consumption": 100 * np.log(quarters["realcons"]).diff(),
        "investment": 100 * np.log(quarters["realinv"]).diff(),
        "inflation": quarters["infl"].diff(),
        "rate": quarters["tbilrate"].diff(),
        "unemployment": quarters["unemp"].diff(),
    }
    years = quarters["year"].astype(int)
    period = np.where(years < 1984, "before 1984", "from 1984 on")
    return pd.DataFrame({"period": period} | changes).iloc[1:].round(3)


def states() -> pd.DataFrame:
    """Crime and living conditions in the states of the United States in 2009."""
    from statsmodels.datasets import statecrime

    return statecrime.load_pandas().data.drop(columns="white").reset_index()


def penguins() -> pd.DataFrame:
    """Penguins near Palmer Station, with the holes of the original."""
    from palmerpenguins import load_penguins

    return load_penguins().drop(columns="year")


def two_loops() -> cl.LinearGaussianModel:
    """Eight variables, two feedback loops."""
    names = ["stress", "sleep", "mood", "activity", "appetite", "weight", "pain", "support"]
    edges = {
        ("stress", "sleep"): -0.6, ("sleep", "mood"): 0.5, ("mood", "stress"): -0.5,
        ("mood", "activity"): 0.6, ("activity", "appetite"): 0.5, ("appetite", "weight"): 0.7,
        ("weight", "activity"): -0.5, ("pain", "sleep"): -0.5, ("support", "mood"): 0.5,
    }  # fmt: skip
    B = np.zeros((8, 8))
    for (a, b), weight in edges.items():
        B[names.index(a), names.index(b)] = weight
    return cl.LinearGaussianModel(B, np.ones(8), names=names)


def survey() -> pd.DataFrame:
    """Answers on scales of five levels, a region, survey weights and codes for no answer."""
    rng = np.random.default_rng(1)
    rows = two_loops().sample(600, random_state=1)
    scored = rows.apply(lambda column: pd.cut(column, [-9, -1.5, -0.5, 0.5, 1.5, 9], labels=False))
    answers = (scored.fillna(2).astype(int) + 1).drop(columns=["weight", "support"])
    answers = answers.mask(rng.random(answers.shape) < 0.01, -9)
    mood = {1: "very low", 2: "low", 3: "middling", 4: "good", 5: "very good", -9: None}
    answers["mood"] = answers["mood"].map(mood)
    answers["region"] = rng.choice(["north", "south", "west"], 600)
    answers["people"] = rng.integers(1, 9, 600) * 100
    return answers


def experiments() -> pd.DataFrame:
    """A network of genes: as it is, and after three of them were set."""
    names = ["araC", "lexA", "recA", "umuD", "sulA"]
    B = np.zeros((5, 5))
    for a, b, weight in ((0, 1, 0.8), (1, 2, 0.7), (2, 1, -0.7), (2, 3, 0.9), (1, 4, 0.6)):
        B[a, b] = weight
    tables = []
    for n, target in enumerate([None, "lexA", "recA", "araC"]):
        noise = np.random.default_rng(n).standard_normal((150, 5))
        cut, shift = B.copy(), np.zeros(5)
        if target is not None:
            place = names.index(target)
            cut[:, place], shift[place] = 0, 2
        rows = (noise + shift) @ np.linalg.inv(np.eye(5) - cut)
        tables.append(pd.DataFrame(rows, columns=names).assign(target=target or ""))
    return pd.concat(tables, ignore_index=True).round(3)


def panel() -> pd.DataFrame:
    """Firms over eight years that differ by what stays the same in each of them."""
    rng = np.random.default_rng(2)
    names = ["wages", "effort", "sales", "prices"]
    B = np.array([[0, 0.6, 0, 0.4], [0, 0, 0.6, 0], [0.5, 0, 0, 0], [0, 0, -0.5, 0]])
    rows = cl.LinearGaussianModel(B, np.ones(4), names=names).sample(800, random_state=2)
    firms = np.repeat(np.arange(100), 8)
    fixed = rng.normal(0, 3, (100, 4))
    return (rows + fixed[firms]).round(3).assign(firm=[f"firm {n:03d}" for n in firms])


def matrix() -> str:
    """A covariance matrix in Tetrad's format, which says its number of rows."""
    rows = two_loops().sample(500, random_state=3)
    S = np.cov(rows.to_numpy().T, ddof=0)
    lines = [" ".join(f"{value:.4f}" for value in row[: n + 1]) for n, row in enumerate(S)]
    return "\n".join(["500", " ".join(rows.columns), *lines]) + "\n"


def main() -> None:
    """Write all of them."""
    FOLDER.mkdir(exist_ok=True)
    market = MARKET.sample(EXAMPLE_ROWS, random_state=0).round(3)
    tables = {"market": market, "economy": economy(), "states": states(), "penguins": penguins()}
    tables |= {"survey": survey(), "experiments": experiments(), "panel": panel()}
    for name, table in tables.items():
        table.to_csv(FOLDER / f"{name}.csv", index=False, lineterminator="\n")
    (FOLDER / "matrix.txt").write_text(matrix(), "utf-8")


if __name__ == "__main__":
    main()
