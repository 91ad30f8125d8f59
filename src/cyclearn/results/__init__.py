"""Results and what they answer: verdicts, effects, what-if, the next experiment."""

from cyclearn.results.bootstrap_result import BootstrapResult as BootstrapResult
from cyclearn.results.class_effects import ClassEffects as ClassEffects
from cyclearn.results.class_effects import class_effects as class_effects
from cyclearn.results.member_ranking_result import MemberRanking as MemberRanking
from cyclearn.results.next_experiment import next_experiment as next_experiment
from cyclearn.results.next_experiment_result import NextExperiment as NextExperiment
from cyclearn.results.result import LearnResult as LearnResult
