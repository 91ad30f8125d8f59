"""Numbers on a graph: moments, the linear Gaussian model, its maximum likelihood, projection.

Compiled code is loaded by the first fit, not by the import.
"""

from cyclearn.models.data_checks import DataWarning as DataWarning
from cyclearn.models.data_checks import check_data as check_data
from cyclearn.models.fit_checks import check_fit as check_fit
from cyclearn.models.fit_indices import FitIndices as FitIndices
from cyclearn.models.fit_status import FitStatus as FitStatus
from cyclearn.models.fitted_groups import FittedGroups as FittedGroups
from cyclearn.models.fitted_model import FittedModel as FittedModel
from cyclearn.models.linear_gaussian import Intervention as Intervention
from cyclearn.models.linear_gaussian import LinearGaussianModel as LinearGaussianModel
from cyclearn.models.maximum_likelihood import fit as fit
from cyclearn.models.moments import Moments as Moments
from cyclearn.models.moments import as_moments as as_moments
from cyclearn.models.moments import read_moments as read_moments
from cyclearn.models.projection import Projection as Projection
from cyclearn.models.projection import project as project
from cyclearn.models.random_models import random_model as random_model
from cyclearn.models.table_files import as_rows as as_rows
from cyclearn.models.table_files import read_table as read_table

__all__ = [
    "DataWarning",
    "FitIndices",
    "FitStatus",
    "FittedGroups",
    "FittedModel",
    "Intervention",
    "LinearGaussianModel",
    "Moments",
    "Projection",
    "as_moments",
    "as_rows",
    "check_data",
    "check_fit",
    "fit",
    "project",
    "random_model",
    "read_moments",
    "read_table",
]
