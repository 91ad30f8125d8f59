"""Class distance, multi-domain success and classical metrics against a class."""

from cyclearn.evaluation.evaluate import Evaluation as Evaluation
from cyclearn.evaluation.evaluate import Evaluator as Evaluator
from cyclearn.evaluation.evaluate import evaluate as evaluate
from cyclearn.evaluation.multi_domain import Domains as Domains
from cyclearn.evaluation.multi_domain import SuccessRate as SuccessRate
from cyclearn.evaluation.multi_domain import draw_domains as draw_domains
from cyclearn.evaluation.multi_domain import multi_domain_outputs as multi_domain_outputs
from cyclearn.evaluation.multi_domain import multi_domain_success as multi_domain_success
from cyclearn.evaluation.recovery import recovery as recovery
from cyclearn.evaluation.structure import ClassDistance as ClassDistance
from cyclearn.evaluation.structure import PrecisionRecall as PrecisionRecall
from cyclearn.evaluation.structure import StructureScores as StructureScores
from cyclearn.evaluation.structure import class_distance as class_distance
from cyclearn.evaluation.structure import shd as shd
from cyclearn.evaluation.structure import structure_scores as structure_scores
