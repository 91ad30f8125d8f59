"""From a table to an answer in one call: `learn`, the estimator, `bootstrap`, `load`.

The estimator stays in its module because it needs scikit-learn, which takes a second to import.
"""

from cyclearn.learning.bootstrap import bootstrap as bootstrap
from cyclearn.learning.learn import learn as learn
from cyclearn.learning.loading import load as load
