"""Every warning about data, a search or a fit: its code, its values and its text.

To add a warning, add a class here; its name gives the code. ``_words`` gives what was found and the
remedy twice: for people who write Python or commands, and for pages (the application and the
report), whose readers know no option by name.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from math import isfinite, sqrt
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, get_origin, get_type_hints

from cyclearn.foundation import InputError, count_of

if TYPE_CHECKING:
    from typing_extensions import dataclass_transform
else:

    def dataclass_transform(**_):
        """For type checkers only; not every version of Python has it."""
        return lambda decorated: decorated


class Words(NamedTuple):
    """What was found, and the remedy; a second remedy for pages if the first names an option."""

    message: str
    remedy: str
    page_remedy: str = ""


@dataclass_transform(frozen_default=True, kw_only_default=True)
@dataclass(frozen=True, kw_only=True)
class DataWarning(ABC):
    """A problem that was found: its code, the values it is based on, and what to do.

    Each code has its own class, whose additional fields are these values.

    Attributes
    ----------
    code : str
        Identifies the problem: ``"dependent_rows"``, ``"nonnormal_columns"``, ``"low_power"`` and
        so on.
    columns : tuple of str
        The variables concerned; empty if the warning is about all of them.
    group : str
        The group of rows concerned; empty for a single table.
    """

    code: ClassVar[str]
    columns: tuple[str, ...] = ()
    group: str = ""

    def __init_subclass__(cls) -> None:
        dataclass(frozen=True, kw_only=True)(cls)
        cls.code = re.sub("(?<=[a-z])(?=[A-Z])", "_", cls.__name__).lower()

    @abstractmethod
    def _words(self) -> Words:
        """The text for Python and for pages, without the name of the group."""

    @property
    def title(self) -> str:
        """A short title for the problem."""
        return self.code.replace("_", " ")

    @property
    def message(self) -> str:
        """What was found."""
        message = self._words().message
        return f"Group {self.group}: {message}" if self.group else message

    @property
    def remedy(self) -> str:
        """What to do about it, in Python."""
        return self._words().remedy

    @property
    def page_remedy(self) -> str:
        """What to do about it, without option names."""
        words = self._words()
        return words.page_remedy or words.remedy

    def in_group(self, name: str) -> DataWarning:
        """The same warning about one group of rows."""
        return replace(self, group=name)

    def to_dict(self) -> dict[str, Any]:
        """The warning as plain values, for :func:`warnings_of`."""
        return {"code": self.code, **asdict(self)}

    def on_page(self) -> dict[str, Any]:
        """The warning as plain values, with its text for a page."""
        return {**self.to_dict(), "message": self.message, "remedy": self.page_remedy}

    def __str__(self) -> str:
        return f"{self.message} {self.remedy}"


def warnings_of(records: Iterable[Mapping[str, Any]]) -> tuple[DataWarning, ...]:
    """Restore warnings from plain values.

    Raises
    ------
    InputError
        If a code is unknown, or a value is missing or has the wrong type.
    """
    try:
        return tuple(_warning_of(dict(record)) for record in records)
    except (LookupError, TypeError, ValueError, ArithmeticError) as error:
        raise InputError(f"not a valid warning ({type(error).__name__}: {error})") from None


def _warning_of(record: dict[str, Any]) -> DataWarning:
    classes = {each.code: each for each in DataWarning.__subclasses__()}
    of_code = classes[record.pop("code")]
    found = of_code(**{name: _as_tuple(value) for name, value in record.items()})
    types = get_type_hints(of_code)
    for field in fields(found):
        allowed = types[field.name]
        if get_origin(allowed) is tuple:
            allowed = tuple
        elif allowed is float:
            allowed = int | float
        if not isinstance(getattr(found, field.name), allowed):
            raise TypeError(f"{field.name} of {found.code}")
    # A number may have the right type and still be one that cannot be formatted.
    str(found)
    return found


def _as_tuple(value: Any) -> Any:
    return tuple(map(_as_tuple, value)) if isinstance(value, list) else value


class MissingCodes(DataWarning):
    """Numbers such as -999, which may code missing values."""

    numbers: tuple[float, ...]

    def _words(self) -> Words:
        listed = ",".join(f"{number:g}" for number in sorted(set(self.numbers)))
        return Words(
            f"{self.columns[0]} contains {self.numbers[0]:g} several times, far from its other "
            f"values{_others(self)}.",
            "If it codes a missing value, pass missing_codes to read_table, or --missing-codes "
            f"{listed}.",
            f"If it codes a missing value, enter {listed} as missing and read the table again.",
        )


class MissingValues(DataWarning):
    """Missing cells and how they were treated; ``columns`` names the column with the most."""

    treatment: str
    n_rows: int
    n_complete: int
    share: float
    column_share: float

    def _words(self) -> Words:
        bias = "Results are biased if whether a value is missing depends on the value itself."
        treatment, *remedies = {
            "em": ("means and covariances are estimated by maximum likelihood (EM)", bias),
            "pairwise": ("each covariance uses the rows that have both columns", bias),
            "rows": (
                "only complete rows are used",
                "Use missing='em', which keeps all rows.",
                "Use all rows (maximum likelihood).",
            ),
            "error": (
                "they are not accepted",
                "Use missing='em' (--missing em), which keeps all rows, or missing='rows'.",
                "Use all rows (maximum likelihood), or complete rows only.",
            ),
        }[self.treatment]
        return Words(
            f"{100 * self.share:.2g}% of the cells are missing ({self.columns[0]}: "
            f"{100 * self.column_share:.2g}%; {self.n_complete} of {self.n_rows} rows are "
            f"complete); {treatment}.",
            *remedies,
        )


class UnfinishedEM(DataWarning):
    """EM reached its iteration limit."""

    iterations: int

    def _words(self) -> Words:
        return Words(
            f"EM did not converge in {count_of(self.iterations, 'iteration')}, so means and "
            "covariances are inaccurate.",
            "Leave out the columns with the most missing values, or use missing='rows'.",
            "Leave out the columns with the most missing values, or use complete rows only.",
        )


class PairwiseCovariances(DataWarning):
    """Pairwise covariances that had to be shrunk to form a covariance matrix."""

    shrinkage: float

    def _words(self) -> Words:
        return Words(
            "The pairwise covariances do not form a covariance matrix, so all correlations were "
            f"shrunk by {100 * self.shrinkage:.2g}%.",
            "Use missing='em', which always gives a covariance matrix.",
            "Use all rows (maximum likelihood), which always gives a covariance matrix.",
        )


class ShrunkCorrelations(DataWarning):
    """Correlations were shrunk on request."""

    shrinkage: float

    def _words(self) -> Words:
        return Words(
            f"Correlations were shrunk by {self.shrinkage:.0%} (Ledoit and Wolf): weights are too "
            "small, and standard errors and tests ignore this.",
            "Do not interpret weights as effect sizes. A penalty given by name is rescaled too.",
        )


class RowNumbers(DataWarning):
    """Columns that number the rows, in their order or in another."""

    def _words(self) -> Words:
        return Words(
            f"{self.columns[0]}{_others(self)} numbers the rows: consecutive numbers, each once.",
            "Leave it out: a row number is not a measurement.",
        )


class DependentRows(DataWarning):
    """Rows resemble earlier rows; ``n_counted`` is the effective sample size in use, if adjusted.

    ``column`` has the smallest effective sample size, ``column_n_effective``; ``can_lag`` says that
    lags can be combined with the other options.
    """

    n_rows: int
    n_effective: float
    column: str
    column_n_effective: float
    n_counted: float | None = None
    can_lag: bool = True

    def _words(self) -> Words:
        message = (
            "Rows resemble earlier rows: the effective sample size is about "
            f"{_two_digits(self.n_effective)} of {self.n_rows} ({self.column}: "
            f"{_two_digits(self.column_n_effective)})"
        )
        if self.n_counted is not None:
            counted = f"They count as {self.n_counted:.0f}"
            return Words(
                f"{message}.",
                f"{counted} (n_effective='all' counts every row)."
                + " For a time series, use lags=1." * self.can_lag,
                f"{counted}. All rows can be counted instead."
                + " For a time series, let earlier rows act on later ones." * self.can_lag,
            )
        return Words(
            f"{message}, so p-values are too small and edges may be spurious.",
            "Use n_effective='auto'" + ", or lags=1 for a time series" * self.can_lag + ".",
            "Use the effective sample size"
            + ", or let earlier rows act on later ones" * self.can_lag
            + ".",
        )


class TooFewLags(DataWarning):
    """Rows resemble earlier rows beyond what the lags explain, most of all in ``column``."""

    column: str
    n_counted: float | None = None

    def _words(self) -> Words:
        found = f"Rows resemble earlier rows beyond the given lags, most of all {self.column}"
        remedy = "se more lags, or remove trends and seasons first."
        if self.n_counted is not None:
            return Words(f"{found}.", f"They count as {self.n_counted:.0f}; u{remedy}")
        return Words(f"{found}: p-values are too small and edges may be spurious.", f"U{remedy}")


class NonnormalColumns(DataWarning):
    """Columns far from Gaussian, most of all ``column``; ``n_checked`` were tested.

    ``is_robust`` says that standard errors and the test of fit do not assume Gaussian rows, and
    ``can_rank`` that ranks can be combined with the other options.
    """

    n_checked: int
    column: str
    skewness: float
    excess_kurtosis: float
    is_robust: bool = False
    can_rank: bool = True

    def _words(self) -> Words:
        which = f"{self.column} is clearly not Gaussian"
        if len(self.columns) > 1:
            which = (
                f"{len(self.columns)} of {self.n_checked} columns are clearly not Gaussian, most "
                f"of all {self.column}"
            )
        rest = "check for outliers, and trust bootstrap frequencies more than p-values."
        errors = "standard errors, p-values and the test of fit do not"
        if self.is_robust:
            rest = "or check for outliers."
            errors = "standard errors, p-values and the test of fit of a model are robust to it"
        others = rest.removeprefix("or ").capitalize()
        return Words(
            f"{which} (skewness {self.skewness:.1f}, excess kurtosis {self.excess_kurtosis:.1f}): "
            f"the graph is often robust to this; {errors}.",
            f"Use margins='rank', {rest}" if self.can_rank else others,
            f"Use the ranks of the columns, {rest}" if self.can_rank else others,
        )


class CollinearColumns(DataWarning):
    """Columns that others nearly determine; of ``column`` they explain the share ``explained``."""

    column: str
    closest: str
    explained: float

    def _words(self) -> Words:
        number = len(self.columns)
        affected = f"; {number} columns are affected" if number > 1 else ""
        return Words(
            f"Other columns explain {100 * self.explained:.1f}% of the variance of {self.column} "
            f"(closest: {self.closest}{affected}), so edges among them are badly determined.",
            "Leave out one of these columns, or average them.",
        )


class IndicatorColumns(DataWarning):
    """Binary columns that exclude each other, like indicators of one variable."""

    def _words(self) -> Words:
        listed = ", ".join(self.columns)
        return Words(
            f"{listed} are never 1 in the same row, like indicators of one categorical variable. "
            "Their dependence is not an effect of one on another.",
            "If nothing in the table causes that variable, declare them exogenous: "
            f"exogenous={list(self.columns)!r}.",
            "If nothing in the table causes that variable, mark them as exogenous in step "
            "Knowledge.",
        )


class OrdinalColumns(DataWarning):
    """Columns with few whole numbers, which were treated as measurements or as ordinal.

    ``shrinkage``: the share by which the latent correlations of ordinal columns would have to be
    shrunk to be those of any variables. ``ruled_out_by``: the options in use that cannot be
    combined with ordinal columns.
    """

    is_taken: bool = False
    shrinkage: float = 0.0
    ruled_out_by: tuple[str, ...] = ()

    def _words(self) -> Words:
        one = len(self.columns) == 1
        listed = ", ".join(self.columns[:10]) + ", …" * (len(self.columns) > 10)
        if self.is_taken:
            return Words(
                f"{listed} {'has' if one else 'have'} few values and {'is' if one else 'are'} "
                "treated as ordinal: weights refer to the underlying normal variables.",
                f"If these are measurements, use continuous={list(self.columns)!r}.",
                "If these are measurements, mark them as such.",
            )
        why, remedy = ".", "If these are ordered levels,"
        if self.shrinkage:
            why = (
                ": estimated pair by pair, their latent correlations are jointly impossible unless "
                f"all are shrunk by {100 * self.shrinkage:.1f}%."
            )
            remedy += " merge rare levels, drop a column, or, to shrink the correlations,"
        changes = [
            "set missing='pairwise'" if name == "missing" else f"omit {name}"
            for name in self.ruled_out_by
        ]
        return Words(
            f"{listed} {'has' if one else 'have'} few values, like answers on a rating scale, and "
            f"{'is' if one else 'are'} treated as {'a measurement' if one else 'measurements'}"
            + why,
            f"{remedy} {' and '.join([*changes, f'use ordered={list(self.columns)!r}'])}.",
            "If these are ordered levels, mark them as ordinal"
            + f", which cannot be combined with {' and '.join(self.ruled_out_by)}" * bool(changes)
            + ".",
        )


class TextsAsNumbers(DataWarning):
    """Columns of text that are used as numbers; ``texts`` are those of 0, 1, … in each."""

    texts: tuple[tuple[str, ...], ...]

    def _words(self) -> Words:
        coded = "; ".join(
            f"{name}: {', '.join(f'{text} = {number}' for number, text in enumerate(texts))}"
            for name, texts in zip(self.columns, self.texts, strict=True)
        )
        return Words(
            f"Columns of text are used as numbers ({coded}).",
            "Signs of weights refer to these; for other numbers, replace the text by numbers.",
        )


class RepairedCorrelations(DataWarning):
    """Latent correlations that were shrunk because they were jointly impossible."""

    shrinkage: float

    def _words(self) -> Words:
        return Words(
            "The latent correlations, estimated pair by pair, do not form a correlation matrix, "
            f"so all were shrunk by {100 * self.shrinkage:.1f}%.",
            "Merge rare levels, or leave out a column.",
        )


class LowPower(DataWarning):
    """Few rows: partial correlations below ``weakest`` cannot be detected."""

    n_rows: int
    n_effective: float
    n_variables: int
    weakest: float

    def _words(self) -> Words:
        rows = f"{self.n_rows} rows"
        if round(self.n_effective) < self.n_rows:
            rows += f" (effective sample size about {_two_digits(self.n_effective)})"
        return Words(
            f"{rows} are few for {count_of(self.n_variables, 'variable')}: partial correlations "
            f"below about {self.weakest:.2f} cannot be detected.",
            "A missing edge is not evidence of no effect. Add background knowledge, and check "
            "bootstrap frequencies.",
        )


class TooFewRows(DataWarning):
    """So few rows that noise looks like edges, and how the search responds.

    ``penalty`` is the given penalty, ``noise`` the gain that noise alone can reach. The limits are
    those that the search chose.
    """

    n_effective: float
    penalty: float
    noise: float
    is_raised: bool
    max_parents: int | None
    max_component: int | None

    def _words(self) -> Words:
        done = f"the penalty per edge is {self.penalty:.2f}"
        if self.penalty < self.noise and self.is_raised:
            done = f"the penalty per edge is {self.noise:.2f} instead of {self.penalty:.2f}"
        elif self.penalty < self.noise:
            done += f", and noise alone can reach {self.noise:.2f}"
        limits = []
        if self.max_parents is not None:
            limits.append(f"at most {count_of(self.max_parents, 'parent')} per variable")
        if self.max_component is not None:
            limits.append(f"at most {count_of(self.max_component, 'variable')} per feedback loop")
        allowed = f"; the search allows {' and '.join(limits)}" if limits else ""
        strong = "Only very strong edges can be found. Use fewer variables, or set"
        return Words(
            f"{self.n_effective:.0f} rows are too few for this many variables: {done}{allowed}.",
            f"{strong} penalty, max_parents and max_component yourself.",
            f"{strong} the penalty and the limits yourself.",
        )


class ReachedLimits(DataWarning):
    """Limits, named as options, that kept the search from graphs or ended it."""

    limits: tuple[str, ...]

    def _words(self) -> Words:
        names = {
            "max_component": "variables in a feedback loop",
            "max_parents": "parents of a variable",
            "max_edges": "edges",
            "max_cycle_length": "the length of cycles",
            "max_evaluations": "evaluations",
            "time_limit": "time",
        }
        reached = ", ".join(names.get(each, each) for each in self.limits)
        return Words(
            f"A better graph may exist: the search reached its limit on {reached}.",
            f"Raise {', '.join(self.limits)}.",
            "Raise the limit.",
        )


class RankScale(DataWarning):
    """Results are on the scale of normal scores."""

    def _words(self) -> Words:
        return Words(
            "Columns were replaced by normal scores of their ranks.",
            "Weights, effects and intervals are on that scale, not in the units of the data.",
        )


class UnstableFeedback(DataWarning):
    """The spectral radius of the fitted weights is at least one."""

    radius: float

    def _words(self) -> Words:
        return Words(
            f"The fitted feedback grows without limit (spectral radius {self.radius:.2f}; stable "
            "below 1).",
            "Do not interpret total effects. Look for a stable graph in the class, or check "
            "whether the system was in equilibrium when it was measured.",
        )


class SlowFeedback(DataWarning):
    """The spectral radius of the fitted weights is close to one."""

    radius: float

    def _words(self) -> Words:
        return Words(
            f"The fitted feedback decays slowly (spectral radius {self.radius:.3f}; stable below "
            "1), so small changes in the data change total effects a lot.",
            "Treat effects within feedback loops as orders of magnitude only.",
        )


class NotIdentified(DataWarning):
    """A fit with more parameters than dimensions."""

    def _words(self) -> Words:
        valid = "the likelihood, the covariance and the fit indices are valid"
        return Words(
            "The graph has more parameters than its distributions have dimensions, so some "
            f"parameters are not determined; {valid}.",
            "See not_identified for these parameters; graph.reduced() may remove redundant edges.",
            "Do not interpret single weights; remove redundant edges.",
        )


class BoundaryFit(DataWarning):
    """A maximum on the boundary, where the information is singular."""

    def _words(self) -> Words:
        return Words(
            "The maximum is on the boundary of the distributions of this graph, where two "
            "solutions meet (a feedback loop of gain −1, say) and standard errors do not exist.",
            "The data probably come from another graph.",
        )


class NoMaximum(DataWarning):
    """A likelihood that rises while coefficients grow without limit."""

    def _words(self) -> Words:
        fit = "The data probably come from a graph with a cycle reversed: fit that graph"
        return Words(
            "The likelihood has no maximum: it keeps rising while some coefficients grow without "
            "limit.",
            f"{fit} (equivalence_class(graph) lists candidates).",
            f"{fit}.",
        )


class IterationLimit(DataWarning):
    """A fit that stopped before it reached the tolerance."""

    def _words(self) -> Words:
        return Words(
            "The fit stopped at its iteration limit: the likelihood is very flat, or the limit is "
            "low.",
            "Raise max_iterations.",
            "Do not rely on these weights.",
        )


class SeveralSolutions(DataWarning):
    """Other weights on the same graph that fit as well."""

    n_others: int
    is_stable: bool

    def _words(self) -> Words:
        sets = "set of coefficients fits" if self.n_others == 1 else "sets of coefficients fit"
        shown = f"The coefficients shown are {'a stable set' if self.is_stable else 'one set'}"
        return Words(
            f"{self.n_others} other {sets} exactly as well on the same graph.",
            f"{shown}; see model.alternatives for the others.",
            f"{shown}.",
        )


class HiddenCause(DataWarning):
    """A hidden common cause of a pair fits better than its edges; others are then superfluous."""

    edges: tuple[tuple[str, str], ...]
    superfluous: tuple[tuple[str, str], ...]

    def _words(self) -> Words:
        gone = ", ".join(f"{a} → {b}" for a, b in self.superfluous)
        edges = " and ".join(f"{a} → {b}" for a, b in self.edges)
        return Words(
            "A hidden common cause of "
            f"{' and '.join(self.columns)}{f', without {gone},' if gone else ''} fits better than "
            f"{edges}: do not interpret these edges as effects.",
            "Measure the suspected cause, or use a method that allows for hidden ones.",
        )


class UnfinishedSample(DataWarning):
    """A sample of graphs that a limit ended before it was as large as wanted, or chains agreed."""

    is_out_of_time: bool
    chains_agree: bool
    effective_size: float
    wanted_size: int
    r_hat: float
    largest_r_hat: float

    def _words(self) -> Words:
        what = "The chains disagree, so the probabilities are not determined"
        if self.chains_agree:
            # Where no edge seems open yet, nothing is known of how well it is known.
            known = self.effective_size if isfinite(self.effective_size) else 1.0
            error = min(1.0, 1 / sqrt(max(known, 1.0)))
            what = f"The chains agree, but each probability may be off by {error:.2f}"
        limit = "time limit" if self.is_out_of_time else "limit on steps"
        return Words(
            f"{what}: the {limit} ended them at an effective sample size of "
            f"{self.effective_size:.0f}, where {self.wanted_size} was wanted, and R̂ "
            f"{self.r_hat:.2f}, where {self.largest_r_hat} is the limit.",
            "Raise max_steps or time_limit, or limit max_component.",
            "Sample longer, or allow only smaller feedback loops.",
        )


def _others(warning: DataWarning) -> str:
    """The number of columns other than the one that is named."""
    number = len(warning.columns) - 1
    return f" (and {count_of(number, 'other column')})" if number > 0 else ""


def _two_digits(number: float) -> int:
    """A number with two leading digits: an estimate has no more."""
    return int(float(f"{number:.2g}"))
