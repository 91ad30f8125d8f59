"""Settings that all tests share."""

import os

from hypothesis import settings

# Shared machines are slow at times, so no example has a deadline; where tests decide about a
# change they draw the same examples every time.
settings.register_profile("default", deadline=None, max_examples=60)
settings.register_profile("ci", deadline=None, max_examples=60, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "default")
