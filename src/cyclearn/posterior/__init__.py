"""How probable graphs are, given the data: chains over graphs and what their sample answers."""

from cyclearn.posterior.posterior import posterior as posterior
from cyclearn.posterior.posterior_result import Posterior as Posterior
from cyclearn.posterior.sample_quality import SamplingWarning as SamplingWarning
