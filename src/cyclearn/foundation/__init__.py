"""What every package uses: errors, checked arguments, seeds, files, time limits and Ctrl-C.

All that loads without numpy can be imported from here; arrays, arguments, seeds and files of
records are in their modules.
"""

from cyclearn.foundation.answers import Answer, SavedAnswer
from cyclearn.foundation.deadlines import (
    Deadline,
    check_deadline,
    deadline_after,
    has_passed,
    now,
    seconds_left,
)
from cyclearn.foundation.errors import (
    CollinearError,
    HeaderError,
    InputError,
    LimitError,
    MatrixError,
)
from cyclearn.foundation.files import (
    check_output,
    check_path,
    check_schema,
    checked_suffix,
    read_text,
    replacing,
    save,
    shown,
    why,
    write_text,
)
from cyclearn.foundation.interruption import OnInterrupt, ended_quietly, is_asked_to_stop, waiting
from cyclearn.foundation.json_input import finite, load_json, short
from cyclearn.foundation.late_imports import Axes, nx, pd
from cyclearn.foundation.option_values import Options, check_name, option, takes_options
from cyclearn.foundation.readable import (
    count_of,
    edges_in_words,
    given_in_words,
    listed,
    significant,
)
from cyclearn.foundation.stability import is_stable_radius
