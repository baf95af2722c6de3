"""Short names and short chains for the tests of Bayesian data descriptions."""

from functools import partial

import pytest
from samples import labelled

from kernelbook.bayes import BayesianDataDescription, BayesianSVDD, BayesianSVDDMinority

BDD, BSVDD, MINORITY = BayesianDataDescription, BayesianSVDD, BayesianSVDDMinority
SHORT = {"n_chains": 4, "n_samples": 40, "n_burn_in": 40, "random_state": 0}
TINY = {"n_chains": 2, "n_samples": 8, "n_burn_in": 4, "random_state": 0}
short_chains = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
labelled_apart = partial(labelled, shift=2.5, spread=1.0)


def short(estimator, *args, **options):
    return estimator(*args, **(SHORT | options))
