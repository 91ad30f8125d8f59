"""From tables to the graph with the best score: options, knowledge, problem, score, methods."""

from cyclearn.search.checking import check_data as check_data
from cyclearn.search.knowledge import Knowledge as Knowledge
from cyclearn.search.l1 import l1_learn as l1_learn
from cyclearn.search.options import SearchOptions as SearchOptions
from cyclearn.search.runs import SearchStatus as SearchStatus
