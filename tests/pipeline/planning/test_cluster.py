"""Stars, never chains."""

from hypothesis import given, strategies as st
from mem0_dream.pipeline.planning.merges import stars


def graph(pairs):
    edges = {}
    for a, b in pairs:
        if a != b:
            edges.setdefault(a, set()).add(b)
            edges.setdefault(b, set()).add(a)
    return edges


def test_a_chain_of_three_is_one_star_around_its_middle():
    """A~B~C gives B with A and C, since both touch B directly."""
    assert stars(graph([("a", "b"), ("b", "c")]), rank={}) == (("b", ("a", "c")),)


def test_a_chain_of_four_never_joins_its_ends():
    """A~B~C~D: D does not touch B, so it stays with nobody once C is claimed."""
    assert stars(graph([("a", "b"), ("b", "c"), ("c", "d")]), rank={}) == (("b", ("a", "c")),)


def test_ties_go_to_the_higher_rank_then_the_smaller_id():
    edges = graph([("a", "b")])
    assert stars(edges, rank={"b": (2.0,), "a": (1.0,)}) == (("b", ("a",)),)
    assert stars(edges, rank={}) == (("a", ("b",)),)


nodes = st.sampled_from("abcdefgh")


@given(st.lists(st.tuples(nodes, nodes)))
def test_stars_are_disjoint_and_direct_and_complete(pairs):
    edges = graph(pairs)
    found = stars(edges, rank={})
    members = [member for centre, others in found for member in (centre, *others)]
    assert len(members) == len(set(members))
    assert all(other in edges[centre] for centre, others in found for other in others)
    free = set(edges) - set(members)
    assert not any(other in free for node in free for other in edges[node])


@given(st.lists(st.tuples(nodes, nodes)), st.randoms())
def test_the_order_of_edges_does_not_matter(pairs, random):
    shuffled = list(pairs)
    random.shuffle(shuffled)
    assert stars(graph(pairs), rank={}) == stars(graph(shuffled), rank={})
