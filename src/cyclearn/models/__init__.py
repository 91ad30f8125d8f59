"""Numbers on a graph: the linear Gaussian model, its maximum likelihood, inference, projection.

Compiled code is loaded by the first fit, not by the import.
"""

from cyclearn.models.fit_indices import FitIndices as FitIndices
from cyclearn.models.fit_status import FitStatus as FitStatus
from cyclearn.models.fit_status import check_fit as check_fit
from cyclearn.models.fitted_model import FittedGroups as FittedGroups
from cyclearn.models.fitted_model import FittedModel as FittedModel
from cyclearn.models.linear_gaussian import LinearGaussianModel as LinearGaussianModel
from cyclearn.models.maximum_likelihood import fit as fit
from cyclearn.models.projection import Projection as Projection
from cyclearn.models.projection import project as project
from cyclearn.models.random_models import random_model as random_model
