"""The data sets of the notebooks, read from verified files, and samples of known distributions.

Every ``load_<name>`` returns a :class:`sklearn.utils.Bunch` with

``data``
    ndarray (n, d) of float64, missing values NaN; a DataFrame if ``as_frame=True``.
``target``
    ndarray (n,) or Series with the file's own labels; 0 and 1 if ``binary=True``, where 1 is
    the class that counts as positive.
``frame``
    DataFrame of features and target if ``as_frame=True``, otherwise None.
``feature_names``, ``target_names``
    Lists of names; the classes stand in the order of their sorted labels. Where the target is a
    number, not a class, ``target_names`` holds its name.
``positive``
    The label of ``target`` that counts as positive (the rare class, except in sonar); None for
    regression.
``groups``
    ndarray (n,) of int: rows with equal features share a number. Repeated rows then stay on one
    side of a split with ``GroupKFold`` or ``StratifiedGroupKFold``.
``DESCR``, ``filename``
    The description (source, licence, citation, columns with units) and the path of the file.

``return_X_y=True`` gives ``(data, target)`` only. A file is read only if its SHA-256 is the
recorded one. The files belong to the repository and to the wheel of the course, not to that of
the library: they are sought in the directory named by the environment variable
``KERNELBOOK_DATA``, else beside the installed package, else in the repository that holds this
module.

Every ``make_<name>`` draws a sample with ``random_state`` and returns ``(X, y)``, labels 0 and 1
unless it says otherwise; where the distribution is known, ``bayes_<name>`` is the best possible
decision function. For other toys in imbalanced sizes use scikit-learn's ``make_moons``,
``make_circles`` and ``make_blobs``: they take one count for each class.
"""

from kernelbook.datasets._files import data_directory
from kernelbook.datasets.breiman import (
    bayes_ringnorm,
    bayes_twonorm,
    bayes_waveform,
    make_ringnorm,
    make_twonorm,
    make_waveform,
)
from kernelbook.datasets.draw import draw_imbalanced
from kernelbook.datasets.loaders import (
    load_abalone,
    load_airfoil,
    load_car,
    load_creditcard_sample,
    load_glass,
    load_haberman,
    load_hypothyroid,
    load_nhefs_mortality,
    load_segment,
    load_sonar,
    load_thyroid0387_euthyroid,
    load_yeast,
)
from kernelbook.datasets.random_logit import bayes_random_logit, make_random_logit
from kernelbook.datasets.toys import (
    bayes_gaussians,
    make_banana,
    make_bell,
    make_gaussians,
    make_separable,
    make_sinc,
)

__all__ = [
    "bayes_gaussians",
    "bayes_random_logit",
    "bayes_ringnorm",
    "bayes_twonorm",
    "bayes_waveform",
    "data_directory",
    "draw_imbalanced",
    "load_abalone",
    "load_airfoil",
    "load_car",
    "load_creditcard_sample",
    "load_glass",
    "load_haberman",
    "load_hypothyroid",
    "load_nhefs_mortality",
    "load_segment",
    "load_sonar",
    "load_thyroid0387_euthyroid",
    "load_yeast",
    "make_banana",
    "make_bell",
    "make_gaussians",
    "make_random_logit",
    "make_ringnorm",
    "make_separable",
    "make_sinc",
    "make_twonorm",
    "make_waveform",
]
