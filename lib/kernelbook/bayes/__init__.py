r"""Bayesian data description: a centre in feature space with a posterior of its weights.

Three models of :math:`n` targets around a centre :math:`a = \sum_i c_i \phi(x_i)` of sum 1 in
feature space, :math:`\phi(x_i) \sim N(a, I)`, differ in the prior of the coefficients c:

================================ =============================================================
:class:`BayesianDataDescription` Gaussian weights; the most probable ones, by a quadratic program
:class:`BayesianSVDD`            softmax of Gaussian logits; posterior draws, by Hamiltonian steps
:class:`BayesianSVDDMinority`    the same, minus uniform weights of known outliers
================================ =============================================================

All return +1 inside and -1 outside. Notebook 13 tells what the priors do.
"""

from kernelbook.bayes.bdd import BayesianDataDescription
from kernelbook.bayes.bsvdd import BayesianSVDD
from kernelbook.bayes.bsvdd_minority import BayesianSVDDMinority
from kernelbook.bayes.posterior import SpherePosterior
from kernelbook.bayes.prior import prior_mean_vector

__all__ = [
    "BayesianDataDescription",
    "BayesianSVDD",
    "BayesianSVDDMinority",
    "SpherePosterior",
    "prior_mean_vector",
]
