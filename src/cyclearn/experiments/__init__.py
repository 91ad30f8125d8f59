"""The paper's experiments as resumable runs."""

from cyclearn.experiments.fmri import FeedbackStudy as FeedbackStudy
from cyclearn.experiments.fmri import HippocampusStudy as HippocampusStudy
from cyclearn.experiments.runner import ResultsFile as ResultsFile
from cyclearn.experiments.runner import run_study as run_study
from cyclearn.experiments.simulated import ConsistencyStudy as ConsistencyStudy
from cyclearn.experiments.simulated import SimulatedStudy as SimulatedStudy
from cyclearn.experiments.simulated import VirtualEdgeStudy as VirtualEdgeStudy
from cyclearn.experiments.study import Output as Output
from cyclearn.experiments.study import Study as Study
from cyclearn.experiments.study import Task as Task
