"""Knowledge files of all kinds: read, or refused with one line that names the file."""

import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cyclearn import InputError, Knowledge


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b'{"required": 5}', "required is 5"),
        (b'{"required": [5]}', "5 in required is not an edge"),
        (b'{"required": [["a", null]]}', "None, which is not a name"),
        (b'{"tiers": null}', "tiers is None"),
        (b'{"tiers": [null]}', "a tier is None"),
        (b'{"exogenous": {"a": 1}}', "exogenous is"),
        (b'{"other": []}', "accepts only the parts.*this one has 'other'"),
        (b"[]", "accepts only the parts"),
        (b"null", "accepts only the parts"),
        (b"{", "not valid JSON"),
        (b'{"tiers": [[NaN]]}', "NaN"),
        ('{"exogenous": ["größe"]}'.encode("latin-1"), "not UTF-8"),
        (b'{"tiers": ' + b"[" * 100_000, "nested too deeply"),
        (b"", "not valid JSON"),
        (b"\x00\x01", "not valid JSON"),
    ],
)
def test_files_that_are_no_knowledge(tmp_path, content, reason):
    path = tmp_path / "known.json"
    path.write_bytes(content)
    with pytest.raises(InputError, match=reason) as caught:
        Knowledge.read(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_byte_order_mark_is_no_part_of_the_knowledge(tmp_path):
    path = tmp_path / "known.json"
    path.write_bytes(b'\xef\xbb\xbf{"exogenous": ["a", 1]}')
    assert Knowledge.read(path) == Knowledge(exogenous=["a", "1"])
    with pytest.raises(InputError, match="it is a folder"):
        Knowledge.read(tmp_path)


@given(
    st.dictionaries(
        st.sampled_from(["required", "forbidden", "tiers", "exogenous"]),
        st.recursive(
            st.none() | st.booleans() | st.integers(0, 2) | st.sampled_from("abc"),
            lambda inner: st.lists(inner, max_size=3),
            max_leaves=8,
        ),
    )
)
def test_any_record_is_knowledge_that_reads_back_or_an_input_error(record):
    with contextlib.suppress(InputError):
        known = Knowledge.from_json(json.dumps(record))
        assert Knowledge.from_json(known.to_json()) == known
