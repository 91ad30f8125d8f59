"""Errors that a person can act on: each message gives the value, the rule and the remedy."""


class InputError(ValueError):
    """The input is invalid; nothing was computed."""


class HeaderError(InputError):
    """A table whose first line contains numbers instead of names."""


class CollinearError(InputError):
    """Columns that others determine; without ``columns`` the rest can be used."""

    columns: tuple[str, ...] = ()


class MatrixError(InputError):
    """A covariance or correlation matrix where rows are expected."""


class LimitError(RuntimeError):
    """A limit on time or size stopped an exact answer; the message says what is known."""
