"""The indexes against brute force, and on cases whose cosines are known by hand."""

import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from mem0_dream import indexes
from mem0_dream.errors import ModelError
from mem0_dream.indexes import brute_force, exact_groups, inverted_file, measured_recall, near_pairs, search
from mem0_dream.indexes.neighbours import SPARE, Neighbours

BOTH = pytest.mark.parametrize("build", [brute_force, inverted_file])


def at_angles(*degrees: float) -> np.ndarray:
    return np.array(
        [[math.cos(math.radians(d)), math.sin(math.radians(d))] for d in degrees], dtype=np.float32
    )


def cloud(rows: int, *, seed: int = 0, width: int = 16) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((rows, width)).astype(np.float32)


def all_pairs(vectors: np.ndarray, *, floor: float, neighbours: int) -> dict[tuple[int, int], float]:
    units = vectors.astype(np.float64)
    units /= np.linalg.norm(units, axis=1, keepdims=True)
    cosines = units @ units.T
    found = {}
    for i in range(len(units)):
        others = [j for j in np.argsort(-cosines[i]) if j != i][:neighbours]
        for j in others:
            if cosines[i, j] >= floor:
                found[min(i, int(j)), max(i, int(j))] = cosines[i, j]
    return found


@given(
    rows=st.integers(0, 40),
    seed=st.integers(0, 10_000),
    floor=st.sampled_from([-1.0, -0.2, 0.0, 0.25, 0.9]),
    neighbours=st.integers(1, 50),
)
@settings(max_examples=60, deadline=None)
def test_flat_equals_brute_force(rows, seed, floor, neighbours):
    vectors = cloud(rows, seed=seed, width=6)
    wanted = all_pairs(vectors, floor=floor, neighbours=neighbours)
    found = list(near_pairs(vectors, floor=floor, neighbours=neighbours))
    assert [(i, j) for i, j, _ in found] == sorted(wanted)
    np.testing.assert_allclose([c for _, _, c in found], [wanted[key] for key in sorted(wanted)], atol=1e-6)


@given(seed=st.integers(0, 10_000), rows=st.integers(2, 40))
@settings(max_examples=30, deadline=None)
def test_permuting_rows_permutes_nothing_but_numbers(seed, rows):
    vectors = cloud(rows, seed=seed, width=6)
    order = np.random.default_rng(seed).permutation(rows)
    straight = {(i, j): c for i, j, c in near_pairs(vectors, floor=0.1, neighbours=5)}
    shuffled = near_pairs(vectors[order], floor=0.1, neighbours=5)
    assert {tuple(sorted((int(order[i]), int(order[j])))): c for i, j, c in shuffled} == straight


@BOTH
@pytest.mark.parametrize(
    ("vectors", "limits", "expected"),
    [
        (at_angles(0, 20, 40), (0.93, 5), {(0, 1), (1, 2)}),
        *((np.vstack([np.zeros((1, 2), np.float32), at_angles(0, 5)]), (floor, 5), {(1, 2)}) for floor in (-1.0, 0.0, 0.5)),
        *((np.zeros((rows, 2), np.float32), (0.0, 5), set()) for rows in (0, 1)),
        (at_angles(0, 1, 2, 30), (0.5, 1), {(0, 1), (1, 2), (2, 3)}),
    ],
    ids=["a chain is not closed", *["a zero vector pairs with nothing"] * 3, *["too few rows"] * 2, "one direction is enough"],
)  # fmt: skip
def test_the_pairs_of_a_few_vectors(build, vectors, limits, expected):
    floor, neighbours = limits
    assert {(i, j) for i, j, _ in search(vectors, build, floor=floor, neighbours=neighbours)} == expected


@BOTH
def test_length_of_a_vector_does_not_matter(build):
    vectors = at_angles(0, 10) * np.array([[3.0], [0.001]], dtype=np.float32)
    assert next(iter(search(vectors, build, floor=0.9, neighbours=1)))[2] == pytest.approx(0.9848, abs=1e-4)


@BOTH
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_no_number_is_an_error(build, value):
    vectors = at_angles(0, 5)
    vectors[1, 0] = value
    with pytest.raises(ModelError, match="row 1"):
        search(vectors, build, floor=0.2, neighbours=5)


@BOTH
def test_identical_vectors_stay_connected(build):
    vectors = np.repeat(cloud(1), 300, axis=0)
    found = list(search(vectors, build, floor=0.9, neighbours=50))
    partners = {j for i, j, _ in found if i == 0}
    assert partners == set(range(1, 300))
    assert len(found) <= 300 * 50
    assert {c for _, _, c in found} == {1.0}


def test_few_identical_vectors_are_all_found():
    vectors = np.vstack([np.repeat(cloud(1), 11, axis=0), cloud(20, seed=3)])
    found = {(i, j) for i, j, _ in near_pairs(vectors, floor=0.99, neighbours=10)}
    assert found == {(i, j) for i in range(11) for j in range(i + 1, 11)}


def test_approximate_never_invents_a_pair():
    vectors = cloud(3_000)
    found = search(vectors, inverted_file, floor=0.4, neighbours=10)
    again = search(vectors, inverted_file, floor=0.4, neighbours=10)
    units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    expected = np.einsum("ij,ij->i", units[found.rows[:, 0]], units[found.rows[:, 1]])
    np.testing.assert_allclose(found.cosines, expected, atol=1e-5)
    np.testing.assert_array_equal(found.rows, again.rows)
    np.testing.assert_array_equal(found.cosines, again.cosines)


def test_measured_recall_is_what_is_missing():
    vectors = cloud(200)
    found = near_pairs(vectors, floor=0.2, neighbours=10)
    assert measured_recall(found, vectors, floor=0.2, neighbours=10, sample=200) == 1.0
    half = type(found)(found.rows[::2], found.cosines[::2])
    assert measured_recall(half, vectors, floor=0.2, neighbours=10, sample=200) == pytest.approx(
        0.5, abs=0.01
    )
    assert measured_recall(half, vectors[:0], floor=0.2, neighbours=10) == 1.0


def test_approximate_finds_planted_twins():
    vectors = cloud(4_000, width=32)
    twins = vectors[:200] + 0.05 * cloud(200, seed=9, width=32)
    both = np.vstack([vectors, twins])
    found = {(i, j) for i, j, _ in search(both, inverted_file, floor=0.9, neighbours=10)}
    planted = {(row, 4_000 + row) for row in range(200)}
    assert len(planted & found) >= 190


@pytest.mark.parametrize(
    ("limit", "share", "told", "fallen"),
    [(400, 2, "", False), (399, 1, "found 100.00% of", False), (399, 2, "exact search", True)],
)
def test_what_misses_too_many_pairs_of_a_sample_gives_way_to_exact_search(
    monkeypatch, limit, share, told, fallen
):
    vectors = cloud(400)
    limits = {"floor": 0.2, "neighbours": 10}
    exact = search(vectors, brute_force, **limits)

    def missing(_vectors, build, **more):
        found = search(vectors, brute_force, **more)
        step = share if build is inverted_file else 1
        return type(found)(found.rows[::step], found.cosines[::step])

    monkeypatch.setattr(indexes, "FLAT_LIMIT", limit)
    monkeypatch.setattr(indexes, "search", missing)
    found = near_pairs(vectors, **limits)
    np.testing.assert_array_equal(found.rows, exact.rows)
    assert told in found.note
    assert bool(found.note) is bool(told)
    assert ("too few" in found.note) is fallen


def test_exact_groups_hold_every_row_once():
    texts = ["b", "Likes tea.", "B", "likes  tea", "c"]
    assert exact_groups(texts) == ((0, 2), (1, 3), (4,))
    assert exact_groups([]) == ()


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10_000), steps=st.lists(st.tuples(st.integers(0, 40), st.integers(0, 12)), max_size=5)
)
def test_lists_of_rows_that_come_and_go_are_those_of_a_search_anew(seed: int, steps) -> None:
    rng, known = np.random.default_rng(seed), Neighbours()
    every = cloud(400, seed=seed)
    units = (every / np.linalg.norm(every, axis=1, keepdims=True)).astype(np.float32)
    present, unseen = list(range(9 + SPARE + 40)), list(range(200, 400))
    for gone, come in [(0, 0), *steps]:
        present = sorted(rng.choice(present, max(len(present) - gone, 2), replace=False).tolist())
        present, unseen = [*present, *unseen[:come]], unseen[come:]
        some = units[present]
        width = min(9, len(some))
        found = known.nearest(some, 9, brute_force)
        assert found.shape == (len(some), width)
        cosines, expected = brute_force(some).search(some, width)
        told = np.take_along_axis(some @ some.T, found, axis=1)
        assert np.allclose(told, cosines, atol=1e-6)
        assert (found[:, 0] == np.arange(len(some))).all()
        assert found.tolist() == expected.tolist()
