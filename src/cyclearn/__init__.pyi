from cyclearn import metrics as metrics
from cyclearn import simulate as simulate
from cyclearn.classes import Equivalence as Equivalence
from cyclearn.classes import EquivalenceClass as EquivalenceClass
from cyclearn.classes import InterventionalClass as InterventionalClass
from cyclearn.classes import equivalent as equivalent
from cyclearn.classes.equivalence_class import equivalence_class as equivalence_class
from cyclearn.data import DataWarning as DataWarning
from cyclearn.data import Moments as Moments
from cyclearn.data import Reading as Reading
from cyclearn.data import read_table as read_table
from cyclearn.foundation.errors import InputError as InputError
from cyclearn.foundation.errors import LimitError as LimitError
from cyclearn.graphs import DirectedGraph as DirectedGraph
from cyclearn.graphs import d_separated as d_separated
from cyclearn.graphs import markov_equivalent as markov_equivalent
from cyclearn.graphs import read_graph as read_graph
from cyclearn.graphs import virtual_edges as virtual_edges
from cyclearn.graphs import write_graph as write_graph
from cyclearn.identifiability import Comparison as Comparison
from cyclearn.identifiability import QuasiEquivalence as QuasiEquivalence
from cyclearn.identifiability import compare as compare
from cyclearn.identifiability import quasi_equivalent as quasi_equivalent
from cyclearn.identifiability.constraints.hard_constraints import (
    hard_constraints as hard_constraints,
)
from cyclearn.learning.bootstrap import bootstrap as bootstrap
from cyclearn.learning.estimator import CyclicGraphLearner as CyclicGraphLearner
from cyclearn.learning.learn import learn as learn
from cyclearn.learning.loading import load as load
from cyclearn.models import FittedGroups as FittedGroups
from cyclearn.models import FittedModel as FittedModel
from cyclearn.models import LinearGaussianModel as LinearGaussianModel
from cyclearn.models import fit as fit
from cyclearn.models import project as project
from cyclearn.posterior import Posterior as Posterior
from cyclearn.posterior import SamplingWarning as SamplingWarning
from cyclearn.posterior import posterior as posterior
from cyclearn.results import BootstrapResult as BootstrapResult
from cyclearn.results import ClassEffects as ClassEffects
from cyclearn.results import LearnResult as LearnResult
from cyclearn.results import MemberRanking as MemberRanking
from cyclearn.results import NextExperiment as NextExperiment
from cyclearn.results import class_effects as class_effects
from cyclearn.results import next_experiment as next_experiment
from cyclearn.search import Knowledge as Knowledge
from cyclearn.search import SearchOptions as SearchOptions
from cyclearn.search import check_data as check_data
from cyclearn.search import l1_learn as l1_learn
from cyclearn.search.progress import Progress as Progress

__version__: str
