"""From files and tables to moments: reading, columns, missing values, sample sizes, warnings."""

from cyclearn.data.data_warnings import DataWarning as DataWarning
from cyclearn.data.moments import Moments as Moments
from cyclearn.data.moments import as_moments as as_moments
from cyclearn.data.moments import read_moments as read_moments
from cyclearn.data.reading import Reading as Reading
from cyclearn.data.table_files import read_table as read_table
