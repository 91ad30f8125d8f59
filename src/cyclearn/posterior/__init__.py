"""The posterior over graphs: Markov chains over graphs, and probabilities from their sample."""

from cyclearn.posterior.posterior import posterior as posterior
from cyclearn.posterior.posterior_result import Posterior as Posterior
from cyclearn.posterior.sample_quality import SamplingWarning as SamplingWarning
