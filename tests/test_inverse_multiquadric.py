"""A kernel from outside the library serves every machine, in pipelines, and for many points too."""

import numpy as np
import pytest
from inverse_multiquadric import InverseMultiquadric
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR, NuSVC
from sklearn.svm import OneClassSVM as SklearnOneClassSVM

from kernelbook import (
    AFSCTSVC,
    SVDD,
    BayesianDataDescription,
    BayesianSVDD,
    BayesianSVDDMinority,
    ConformalOneClassSVM,
    ConformalSVC,
    HardMarginSVC,
    KernelFisherDiscriminant,
    KernelPCA,
    KernelSVC,
    KernelSVR,
    MeanDifferenceClassifier,
    OneClassSVM,
    ParzenWindow,
    certify,
)
from kernelbook.conformal import magnification
from kernelbook.kernels import Linear, squared_feature_distances

SEED = 20
GAMMA = 0.7
KERNEL = InverseMultiquadric(GAMMA)
# Few points for the dense solvers, many for the exact one, which then asks for blocks.
SIZES = pytest.mark.parametrize("n", [60, 600])


def by_hand(X, Y):
    differences = X[:, None, :] - Y[None, :, :]
    return 1.0 / np.sqrt(1.0 + GAMMA * (differences**2).sum(axis=2))


def sample(n, seed=SEED):
    """Points of two classes, one in four of the rare one."""
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 4 == 0, 1, -1)
    return rng.normal(size=(n, 2)) + np.where(y == 1, 2.0, 0.0)[:, None], y


def two_stripes(n):
    rng = np.random.default_rng(SEED)
    y = np.where(np.arange(n) % 2 == 0, 1, -1)
    return np.column_stack([y * rng.uniform(0.3, 2.0, n), rng.normal(size=n)]), y


def curve(n):
    X, _ = sample(n)
    return X, np.sin(X[:, 0])


def one_class(n):
    return (sample(n)[0],)


MACHINES = [
    (KernelSVC(C=10.0), sample),
    (KernelSVC(C=10.0, solver="exact"), sample),
    (KernelSVC(C=10.0, solver="dense"), sample),
    (HardMarginSVC(), two_stripes),
    (KernelSVR(C=10.0), curve),
    (OneClassSVM(nu=0.1), one_class),
    (SVDD(nu=0.1), one_class),
    (SVDD(C=0.1, C_outlier=0.1), sample),
    (BayesianDataDescription(), one_class),
    (KernelFisherDiscriminant(), sample),
    (MeanDifferenceClassifier(), sample),
    (ParzenWindow(nu=0.1), one_class),
    (AFSCTSVC(C=10.0), sample),
    (ConformalSVC("williams", C=10.0), sample),
    (ConformalOneClassSVM(nu=0.1, tau=1.0), one_class),
    (ConformalOneClassSVM(nu=0.1, tau=0.5, metric="feature"), one_class),
]


def values(machine, X):
    name = "decision_function" if hasattr(machine, "decision_function") else "predict"
    return getattr(machine, name)(X)


@SIZES
@pytest.mark.parametrize(("machine", "data"), MACHINES, ids=str)
def test_a_machine_is_that_of_the_same_values(machine, data, n):
    training, (new, _) = data(n), sample(50, SEED + 1)
    ours = clone(machine).set_params(kernel=KERNEL).fit(*training)
    same = clone(machine).set_params(kernel=by_hand).fit(*training)
    assert_allclose(values(ours, new), values(same, new), rtol=0, atol=1e-8)
    if hasattr(ours, "certificate_"):
        assert ours.certificate_.status == "optimal"
        assert ours.certificate_.duality_gap < 1e-9


@pytest.mark.parametrize("scheme", ["wu_chang", "amari_wu", "wu_amari", "kba"])
@pytest.mark.parametrize("metric", ["feature", "input"])
def test_every_scheme_takes_it(scheme, metric):
    (X, y), (new, _) = sample(60), sample(50, SEED + 1)
    machine = ConformalSVC(scheme, C=10.0, metric=metric)
    ours = clone(machine).set_params(kernel=KERNEL).fit(X, y)
    same = clone(machine).set_params(kernel=by_hand).fit(X, y)
    assert ours.fallback_ is None and ours.certificate_.status == "optimal"
    assert_allclose(ours.decision_function(new), same.decision_function(new), rtol=0, atol=1e-8)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("machine", [BayesianSVDD, BayesianSVDDMinority])
def test_a_short_chain_is_that_of_the_same_values(machine):
    (X, y), (new, _) = sample(40), sample(50, SEED + 1)
    chain = machine(n_chains=2, n_samples=20, n_burn_in=10, random_state=SEED)
    targets = () if machine is BayesianSVDD else (y,)
    ours = clone(chain).set_params(kernel=KERNEL).fit(X, *targets)
    same = clone(chain).set_params(kernel=by_hand).fit(X, *targets)
    assert_allclose(ours.distance(new), same.distance(new), rtol=0, atol=1e-6)


@SIZES
@pytest.mark.parametrize("preimage", ["fixed_point", "distance", "ridge"])
def test_pre_images_are_near_the_projections(preimage, n):
    X, _ = sample(n)
    pca = KernelPCA(5, kernel=KERNEL, preimage=preimage).fit(X)
    same = KernelPCA(5, kernel=by_hand, preimage="ridge").fit(X)
    assert_allclose(pca.eigenvalues_, same.eigenvalues_, rtol=1e-10)
    Z = pca.inverse_transform(pca.transform(X))
    # The mean alone would be one standard deviation away.
    assert np.sqrt(((Z - X) ** 2).mean()) < 0.3 * X.std()


def test_a_fixed_point_is_a_local_optimum():
    X, _ = sample(60)
    pca = KernelPCA(3, kernel=KERNEL).fit(X)
    Z = pca.inverse_transform(pca.transform(X))
    weights = pca.alpha_ @ pca.transform(X).T  # (n, n), one column a point
    weights += (1.0 - weights.sum(axis=0)) / len(X)
    slopes = -GAMMA * (1.0 + GAMMA * ((Z[:, None] - X) ** 2).sum(axis=2)) ** -1.5
    gradient = np.einsum("ij,ji,ijk->ik", slopes, weights, Z[:, None] - X)
    assert np.abs(gradient).max() < 1e-5


def test_an_inverse_profile_needs_no_closed_form():
    squares = np.array([1e-3, 1.0, 1e3])
    found = KERNEL.inverse_profile(KERNEL.profile(squares))
    assert_allclose(found, squares, rtol=1e-9)


def test_the_gradient_is_that_of_differences():
    X, points = sample(5)[0], sample(9, SEED + 1)[0]
    weights = np.random.default_rng(SEED).normal(size=(5, 9))
    gradient = KERNEL.weighted_gradient(X, points, weights)
    for k, step in enumerate(1e-6 * np.eye(2)):
        change = by_hand(X + step, points) - by_hand(X - step, points)
        assert_allclose((weights * change).sum(axis=1) / 2e-6, gradient[:, k], atol=1e-8)


def test_volume_is_that_of_the_metric():
    # The metric is gamma times the unit matrix, of determinant gamma**2.
    assert_allclose(magnification(sample(5)[0], KERNEL), GAMMA, rtol=1e-14)


def test_distances_in_feature_space_are_those_of_the_values():
    X, _ = sample(60)
    distances = squared_feature_distances(KERNEL(X), KERNEL.diagonal(X), KERNEL.diagonal(X))
    assert_allclose(distances, 2.0 - 2.0 * by_hand(X, X), atol=1e-15)


@SIZES
@pytest.mark.parametrize(
    ("machine", "data"),
    [
        (SVC(C=10.0), sample),
        (NuSVC(nu=0.2), sample),
        (SVR(C=10.0), curve),
        (SklearnOneClassSVM(nu=0.1), one_class),
    ],
    ids=str,
)
def test_certify_takes_the_machine_of_scikit_learn(machine, data, n):
    training = data(n)
    theirs = clone(machine).set_params(kernel=KERNEL, tol=1e-9).fit(*training)
    proof = certify(theirs, *training)
    assert proof.exact.kernel_ == KERNEL and proof.exact.certificate_.status == "optimal"
    assert 0 <= proof.duality_gap < 1e-5


def test_a_search_over_kernels_in_a_pipeline():
    X, y = sample(100)
    pipeline = make_pipeline(StandardScaler(), KernelSVC(kernel=KERNEL))
    assert clone(pipeline).get_params()["kernelsvc__kernel"] == KERNEL
    kernels = [InverseMultiquadric(gamma) for gamma in (1e-4, 0.1, 1.0)]
    search = GridSearchCV(pipeline, {"kernelsvc__kernel": kernels}).fit(X, y)
    scores = search.cv_results_["mean_test_score"]
    assert search.best_params_["kernelsvc__kernel"] in kernels[1:] and scores[0] < scores.max()
    assert search.best_estimator_[-1].gamma_ == search.best_params_["kernelsvc__kernel"].gamma


@SIZES
def test_sums_and_products_with_kernels_of_the_library(n):
    X, y = sample(n)
    ours = KernelSVC(kernel=2.0 * KERNEL + Linear()).fit(X, y)
    same = KernelSVC(kernel=lambda U, V: 2.0 * by_hand(U, V) + U @ V.T).fit(X, y)
    assert_allclose(ours.decision_function(X), same.decision_function(X), rtol=0, atol=1e-8)


@pytest.mark.parametrize("gamma", [0.0, -1.0, np.inf, np.nan])
def test_a_width_has_to_be_positive(gamma):
    with pytest.raises(ValueError, match="gamma must be positive and finite"):
        InverseMultiquadric(gamma)
