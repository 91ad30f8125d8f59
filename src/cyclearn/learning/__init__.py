"""From a table to an answer in one call: `learn`, the estimator, `bootstrap`, `load`.

The estimator stays in its module: scikit-learn takes a second to import, and only it needs that.
"""

from cyclearn.learning.bootstrap import bootstrap as bootstrap
from cyclearn.learning.learn import learn as learn
from cyclearn.learning.loading import load as load
