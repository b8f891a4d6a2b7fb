from mem0_dream.models.bindings import BINDING_NAMES, binding_row, relation


def test_a_row_has_one_number_for_each_name():
    row = binding_row("Anna manages Ben", "Ben reports to Anna, in Oslo")
    assert len(row) == len(BINDING_NAMES)
    assert dict(zip(BINDING_NAMES, row, strict=True))["unsaid_long"] == 1.0


def test_swapping_the_texts_swaps_what_each_leaves_unsaid():
    there, back = (
        relation(*pair) for pair in (("Has a dog", "Has a beagle, Rex"), ("Has a beagle, Rex", "Has a dog"))
    )
    assert there.unsaid == back.unsaid[::-1]
    assert there.said == back.said[::-1]
