"""What the browser test records of live figures, beside the machines of the library."""

import json

import numpy as np
import pytest
from samples import classes, points

from kernelbook.oneclass import OneClassSVM
from kernelbook.svdd import SVDD
from kernelbook.svm import KernelSVC
from kernelbook.svr import KernelSVR
from tools.live_agreement import ALLOWED, differences, disagreement, tell

RBF = {"kernel": "rbf", "gamma": 0.5}


def solved(machine):
    """A record as the browser writes it, for which the library has given the solution."""
    X, y = classes(20, seed=3)
    x, t = points(20, 1, seed=5), points(20, 1, seed=6)[:, 0]
    weights = np.where(y > 0, 2.0, 0.5)
    inputs, targets, parameters, decision = {
        "svc": lambda: (
            X, y, RBF | {"C": weights.tolist()},
            KernelSVC(C=1.0, **RBF).fit(X, y, sample_weight=weights).decision_function(X),
        ),
        "svr": lambda: (
            x, t, RBF | {"C": 2.0, "epsilon": 0.1},
            KernelSVR(C=2.0, epsilon=0.1, **RBF).fit(x, t).predict(x),
        ),
        "oneClass": lambda: (
            X, None, RBF | {"nu": 0.3}, OneClassSVM(nu=0.3, **RBF).fit(X).decision_function(X),
        ),
        "svdd": lambda: (
            X, None, RBF | {"C": 0.2}, SVDD(C=0.2, **RBF).fit(X).decision_function(X),
        ),
    }[machine]()  # fmt: skip
    return {
        "machine": machine, "X": inputs.tolist(), "parameters": parameters, "free": [0],
        "y": None if targets is None else targets.tolist(),
        "decision": decision.tolist(), "gap": 1e-12,
    }  # fmt: skip


@pytest.mark.parametrize("machine", ["svc", "svr", "oneClass", "svdd"])
def test_the_solution_of_the_library_agrees(machine):
    one = solved(machine)
    assert disagreement(one) < 1e-9
    assert list(differences([one])) == []


@pytest.mark.parametrize("machine", ["svc", "svr", "oneClass", "svdd"])
def test_a_solution_that_is_off_differs(machine):
    one = solved(machine)
    one["decision"][3] += 3 * ALLOWED * max(1, np.abs(one["decision"]).max())
    (words,) = differences([one])
    assert words.startswith(machine) and "'gamma': 0.5" in words


def test_an_offset_is_free_without_a_free_support_vector():
    one = solved("svc")
    one["decision"] = [value + 0.5 for value in one["decision"]]
    assert disagreement(one) > 0.1
    assert disagreement(one | {"free": []}) < 1e-9


@pytest.mark.parametrize("gap", [2 * ALLOWED, -1e-9])
def test_a_solution_that_is_not_proved_differs(gap):
    assert len(list(differences([solved("svr") | {"gap": gap}]))) == 1


def test_an_unknown_machine_is_named():
    with pytest.raises(ValueError, match="'pegasos'"):
        disagreement(solved("svc") | {"machine": "pegasos"})


def test_a_record_is_told(tmp_path, capsys):
    path = tmp_path / "solved.json"
    good, bad = solved("svc"), solved("svc") | {"gap": 1.0}
    path.write_text(json.dumps([good]))
    assert tell(path) == 0
    path.write_text(json.dumps([good, bad]))
    assert tell(path) == 1
    assert "2 solutions of live figures, 1 differ" in capsys.readouterr().out
