"""How near a learned graph comes to the true one, or rather to the class of the true one."""

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
