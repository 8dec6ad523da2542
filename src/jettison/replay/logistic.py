"""Logistic regression with L2 by Newton's method, standard errors by cluster, and a bootstrap over clusters.

Needs the extra `jettison[tune]`.
"""

from __future__ import annotations

from dataclasses import dataclass

try:
    import numpy as np
    from numpy.typing import NDArray
except ModuleNotFoundError as missing:
    raise ModuleNotFoundError("fitting weights needs numpy: pip install 'jettison[tune]'", name="numpy") from missing

__all__ = ["Fit", "Vector", "bootstrap", "losses", "newton", "np"]

Vector = NDArray[np.float64]

STEPS, CLOSE = 60, 1e-8
SAMPLES = 2000


@dataclass(frozen=True, slots=True)
class Fit:
    """Weights, and what remains uncertain of them."""

    weights: Vector
    errors: Vector
    """Standard errors, with the rows of a cluster taken as one draw (sandwich estimator)."""


def losses(x: Vector, y: Vector, weights: Vector) -> Vector:
    """Log-loss of each row."""
    z = x @ weights
    return np.asarray(np.logaddexp(0.0, z) - y * z, dtype=np.float64)


def newton(x: Vector, y: Vector, w: Vector, prior: Vector, l2: float, clusters: NDArray[np.int64]) -> Fit:
    """Minimise Σ w·log-loss + l2/2·|weights − prior|². `clusters` number the runs the rows come from, from 0."""
    weights = prior.copy()

    def goal(at: Vector) -> float:
        return float(w @ losses(x, y, at) + 0.5 * l2 * ((at - prior) @ (at - prior)))

    value = goal(weights)
    for _ in range(STEPS):
        gradient, hessian = _derivatives(x, y, w, weights, prior, l2)
        step, length = np.linalg.solve(hessian, gradient), 1.0
        while goal(weights - length * step) > value and length > 1e-6:
            length /= 2
        weights = weights - length * step
        value, before = goal(weights), value
        if before - value < CLOSE * max(1.0, abs(value)):
            break
    return Fit(weights, _errors(x, y, w, weights, l2, clusters))


def _derivatives(x: Vector, y: Vector, w: Vector, weights: Vector, prior: Vector, l2: float) -> tuple[Vector, Vector]:
    p = _sigmoid(x @ weights)
    gradient = x.T @ (w * (p - y)) + l2 * (weights - prior)
    hessian = (x * (w * p * (1 - p))[:, None]).T @ x + l2 * np.eye(len(weights))
    return gradient, hessian


def _sigmoid(z: Vector) -> Vector:
    return np.asarray(np.exp(-np.logaddexp(0.0, -z)), dtype=np.float64)


def _errors(x: Vector, y: Vector, w: Vector, weights: Vector, l2: float, clusters: NDArray[np.int64]) -> Vector:
    _, hessian = _derivatives(x, y, w, weights, weights, l2)
    scores = x * (w * (y - _sigmoid(x @ weights)))[:, None]
    sums = np.zeros((int(clusters.max()) + 1, x.shape[1]))
    np.add.at(sums, clusters, scores)
    inverse = np.linalg.inv(hessian)
    return np.asarray(np.sqrt(np.diag(inverse @ (sums.T @ sums) @ inverse)), dtype=np.float64)


def bootstrap(
    gains: Vector, w: Vector, clusters: NDArray[np.int64], samples: int = SAMPLES
) -> tuple[float, float, float]:
    """(mean, 2.5 %, 97.5 %) of weighted gains, drawing whole clusters."""
    count = int(clusters.max()) + 1
    top = np.bincount(clusters, w * gains, count)
    bottom = np.bincount(clusters, w, count)
    drawn = np.random.default_rng(20261).integers(0, count, (samples, count))
    means = top[drawn].sum(axis=1) / np.maximum(bottom[drawn].sum(axis=1), 1e-12)
    low, high = np.quantile(means, (0.025, 0.975))
    return float(top.sum() / bottom.sum()), float(low), float(high)
