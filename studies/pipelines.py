"""Pipelines that several studies share."""

from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

__all__ = ["scaled"]


def scaled(model: BaseEstimator) -> Pipeline:
    """Return a model behind scaling, learned from the rows that it is fitted to.

    Parameters
    ----------
    model : estimator
        Classifier or regressor.

    Returns
    -------
    Pipeline
        Its parameters have the name of the class, in lower case, in front.
    """
    return make_pipeline(StandardScaler(), model)
