"""Write the answers that ``test_same_answer.py`` compares with on every machine."""

import json

from perturbed_problems import problem, statement
from test_same_answer import GOLDEN, N_GOLDEN

if __name__ == "__main__":
    answers = {
        seed: statement(problem(seed), penalty="bic", n_starts=2) for seed in range(N_GOLDEN)
    }
    kept = ("graph", "alternatives", "status", "limits")
    plain = {seed: {key: each[key] for key in kept} for seed, each in answers.items()}
    GOLDEN.write_text(json.dumps(plain, ensure_ascii=False) + "\n")
