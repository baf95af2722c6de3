r"""Markov chain samplers for a likelihood under a Gaussian prior, many chains at once.

Every sampler here draws from

.. math::  \pi(\theta) \propto L(\theta)\, N(\theta;\, m, \Sigma), \qquad \theta \in R^d,

for any function :math:`\log L`; none knows a model. The state is kept whitened,
:math:`\theta = m + A z` with :math:`A A^\top = \Sigma`, so that the prior of :math:`z` is
:math:`N(0, I)`, no inverse of :math:`\Sigma` is ever formed, and a singular :math:`\Sigma` (a
smooth Gaussian process) needs no jitter. Some coordinates may have a flat prior instead; then
:math:`\log L` carries all of their density.

The chains run side by side: with ``vectorized=True`` the log likelihood is called once for all
of them, which turns its matrix-vector products into one matrix product. Each chain has a seed of
its own, so its draws do not depend on how many others run beside it (up to the rounding of a
matrix product). Tuning happens in the burn-in only; a rejected proposal repeats the state.

========================= ============================================ =========================
sampler                   proposal                                     use it for
========================= ============================================ =========================
:func:`metropolis`        :math:`z + s \xi`                            any density, small d
:func:`pcn`               :math:`\sqrt{1-\beta^2}\, z + \beta \xi`     large d, weak likelihood
:func:`elliptical_slice`  a point on an ellipse through z              the same, nothing to tune
:func:`split_hmc`         Hamiltonian flow, in blocks                  strong likelihood with a
                                                                       gradient
========================= ============================================ =========================

Results are ``arviz.InferenceData``; :func:`diagnose` tabulates R-hat and effective sample sizes.
"""

from kernelbook.mcmc.diagnostics import diagnose
from kernelbook.mcmc.elliptical import elliptical_slice
from kernelbook.mcmc.hamiltonian import split_hmc
from kernelbook.mcmc.proposals import metropolis, pcn

__all__ = [
    "diagnose",
    "elliptical_slice",
    "metropolis",
    "pcn",
    "split_hmc",
]
