"""How close a learned graph is to the true one and to its equivalence class."""

from cyclearn.evaluation import (
    ClassDistance,
    Evaluation,
    PrecisionRecall,
    StructureScores,
    SuccessRate,
    class_distance,
    draw_domains,
    evaluate,
    multi_domain_outputs,
    multi_domain_success,
    shd,
    structure_scores,
)

__all__ = [
    "ClassDistance",
    "Evaluation",
    "PrecisionRecall",
    "StructureScores",
    "SuccessRate",
    "class_distance",
    "draw_domains",
    "evaluate",
    "multi_domain_outputs",
    "multi_domain_success",
    "shd",
    "structure_scores",
]
