"""The map: many dimensions flattened to the two along which the memories differ most."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SIDE = 1000
"""Coordinates run from 0 to this."""
_FLAT = 1e-12
"""A direction in which nothing differs."""


def project(vectors: NDArray[np.float32]) -> list[tuple[int, int]]:
    """Principal component analysis to two dimensions, in whole numbers from 0 to `SIDE`.

    Equal vectors fall on one point. The sign of a direction is fixed by its largest part, so that the same
    memories always give the same map.
    """
    import numpy as np

    if not len(vectors):
        return []
    centred = vectors.astype(np.float64) - vectors.mean(axis=0, dtype=np.float64)
    rows, width = centred.shape
    if rows < width:
        values, directions = np.linalg.eigh(centred @ centred.T)
        axes = centred.T @ directions[:, ::-1][:, :2]
    else:
        values, directions = np.linalg.eigh(centred.T @ centred)
        axes = directions[:, ::-1][:, :2]
    flat = np.zeros((rows, 2))
    for number, axis in enumerate(axes.T):
        length = np.linalg.norm(axis)
        if values[::-1][number] > _FLAT and length > _FLAT:
            sign = np.sign(axis[np.argmax(np.abs(axis))])
            flat[:, number] = centred @ (axis * sign / length)
    spread = np.ptp(flat, axis=0)
    scaled = (flat - flat.min(axis=0)) / np.where(spread > _FLAT, spread, 1)
    scaled[:, spread <= _FLAT] = 0.5
    return [(round(x * SIDE), round(y * SIDE)) for x, y in scaled.tolist()]
