"""The paper's experiments as resumable runs."""

from cyclearn.experiments.consistency import ConsistencyStudy as ConsistencyStudy
from cyclearn.experiments.feedback import FeedbackStudy as FeedbackStudy
from cyclearn.experiments.hippocampus import HippocampusStudy as HippocampusStudy
from cyclearn.experiments.results_file import ResultsFile as ResultsFile
from cyclearn.experiments.runner import run_study as run_study
from cyclearn.experiments.simulated import SimulatedStudy as SimulatedStudy
from cyclearn.experiments.study import Output as Output
from cyclearn.experiments.study import Study as Study
from cyclearn.experiments.study import Task as Task
from cyclearn.experiments.virtual_edge_study import VirtualEdgeStudy as VirtualEdgeStudy
