"""Bootstrap intervals of the figures of a study."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.floating]
    Ints = NDArray[np.integer]

DRAWS, SEED = 2_000, 0  # resamples
BATCH = 200  # of them are in memory at once


def ratio(part: Ints, whole: Ints) -> Floats:
    """Divide counts; NaN where nothing was counted."""
    import numpy as np

    with np.errstate(invalid="ignore"):
        return np.asarray(part / whole, dtype=float)


def interval(samples: Sequence[Ints], statistic: Callable[..., Floats], paired: bool = False) -> tuple[float, float]:
    """Return the 95 % percentile interval of a statistic that takes an `axis`, as scipy's bootstrap calls it.

    Resamples in which the statistic is undefined (NaN) are left out.
    """
    import numpy as np
    from scipy import stats

    if min(map(len, samples)) < 2:  # nothing to draw from
        return (value := float(statistic(*samples))), value
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", stats.DegenerateDataWarning)  # scipy's own interval is not used
        drawn = stats.bootstrap(
            tuple(samples), statistic, n_resamples=DRAWS, batch=BATCH, paired=paired, vectorized=True,
            method="percentile", rng=SEED,
        )  # fmt: skip
    low, high = np.nanpercentile(drawn.bootstrap_distribution, [2.5, 97.5])
    return float(low), float(high)
