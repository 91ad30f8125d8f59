"""How near a learned graph comes to the true one, or rather to the class of the true one."""

from cyclearn.evaluation import ClassDistance as ClassDistance
from cyclearn.evaluation import Evaluation as Evaluation
from cyclearn.evaluation import PrecisionRecall as PrecisionRecall
from cyclearn.evaluation import StructureScores as StructureScores
from cyclearn.evaluation import SuccessRate as SuccessRate
from cyclearn.evaluation import class_distance as class_distance
from cyclearn.evaluation import draw_domains as draw_domains
from cyclearn.evaluation import evaluate as evaluate
from cyclearn.evaluation import multi_domain_outputs as multi_domain_outputs
from cyclearn.evaluation import multi_domain_success as multi_domain_success
from cyclearn.evaluation import shd as shd
from cyclearn.evaluation import structure_scores as structure_scores
