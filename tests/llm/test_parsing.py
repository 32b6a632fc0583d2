import json
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from attribution.llm.parsing import parse


class Claims(BaseModel):
    claims: list[str]


class Judged(BaseModel):
    label: Literal["factual", "opinion"]
    reason: str


@pytest.mark.parametrize(
    "reply",
    [
        '{"claims": ["A is b.", "C is [d]."]}',
        '```json\n{"claims": ["A is b.", "C is [d]."]}\n```',
        'Here you are:\n```\n["A is b.", "C is [d]."]\n```\nAnything else?',
        'Sure! {"claims": ["A is b.", "C is [d]."]} I hope this helps.',
        '{"claims": ["A is b.", "C is [d].",],}',
        '[{"claim": "A is b."}, {"claim": "C is [d]."}]',
        '{"claims": [{"fact": "A is b."}, {"fact": "C is [d]."}]}',
        "1. A is b.\n2. C is [d].",
        "Here are [2] claims:\n- A is b.\n- C is [d].\n",
        "• A is b.\n\n• C is [d].",
        "(1) A is b.\n(2) C is [d].",
        '{"claims": ["A is b.", "C is [d].", "E is',
        '```json\n{"claims": ["A is b.",\n "C is [d].",',
        '["A is b.", "C is [d].", "E \\"is',
        '<think>- not this\n{"claims": []}</think>{"claims": ["A is b.", "C is [d]."]}',
    ],
)
def test_lists_of_every_shape(reply: str) -> None:
    assert parse(reply, Claims).claims == ["A is b.", "C is [d]."]


def test_a_bulleted_list_that_was_cut_off_loses_its_last_item() -> None:
    assert parse("- A is b.\n- C is", Claims, truncated=True).claims == ["A is b."]


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "A is b.",
        '{"facts": ["A is b."]}',
        '{"claims": "A is b."}',
        '{"claims": [1, 2]}',
        '{"claims": null}',
        "[[",
        "{",
    ],
)
def test_what_does_not_fit_is_said(reply: str) -> None:
    with pytest.raises(ValueError, match=r"does not parse: found .* expected JSON with claims"):
        parse(reply, Claims)


@pytest.mark.parametrize("reply", ["I'm sorry, but I can't help with that.", "I cannot do this."])
def test_a_refusal_is_named(reply: str) -> None:
    with pytest.raises(ValueError, match="it refused"):
        parse(reply, Claims)


def test_other_schemas_take_json_only() -> None:
    assert parse('Of course: {"label": "opinion", "reason": "r"}', Judged).label == "opinion"
    for reply in ('{"label": "nonsense", "reason": "r"}', "- opinion", '["opinion"]'):
        with pytest.raises(ValueError, match="label, reason"):
            parse(reply, Judged)


def test_code_is_never_run() -> None:
    assert parse("[\"__import__('os').abort()\"]", Claims).claims == ["__import__('os').abort()"]


@given(
    st.lists(
        st.sampled_from(
            ['"', "[", "]", "{", "}", ",", ":", "claims", "```", "\\", "- a", "\n", "1" * 5000]
        )
    )
)
def test_any_reply_parses_or_is_a_value_error(parts: list[str]) -> None:
    try:
        assert all(isinstance(c, str) for c in parse("".join(parts), Claims).claims)
    except ValueError as error:
        assert len(str(error)) < 300


def test_a_reply_that_is_too_long_is_said_and_thoughts_do_not_count() -> None:
    with pytest.raises(
        ValueError, match="200,001 characters, expected at most 200,000: lower llm_tokens"
    ):
        parse("a" * 200_001, Claims)
    assert parse(f"<think>{'a' * 200_001}</think>[]", Claims).claims == []


def test_names_of_fields_are_no_texts_of_a_list_that_was_cut_off() -> None:
    assert parse('[{"fact": "A is b."}, {"fact": "C is [d]."}, {"fact": "E', Claims).claims == [
        "A is b.",
        "C is [d].",
    ]


@given(st.lists(st.text('abc .[]{}"\\ü', max_size=20), min_size=1), st.integers(min_value=0))
def test_a_list_that_was_cut_off_anywhere_keeps_its_complete_texts(
    texts: list[str], at: int
) -> None:
    whole = json.dumps({"claims": texts}, ensure_ascii=False)
    start = len('{"claims": [')
    end = start + at % (len(whole) - start - 2)
    complete, position = [], start
    for text in texts:
        position += len(json.dumps(text, ensure_ascii=False))
        if position <= end:
            complete.append(text)
        position += len(", ")
    cut = whole[:end]
    if complete and not cut.rstrip("} ").endswith("]"):
        assert parse(cut, Claims).claims[: len(complete)] == complete


class Passage(BaseModel):
    passage: int
    relation: Literal["entailed", "contradicted", "no_relation"]
    confidence: float = Field(0.9, ge=0, le=1)


class Passages(BaseModel):
    verdicts: list[Passage]


class Triplets(BaseModel):
    triplets: list[list[str]]


class Decided(BaseModel):
    label: Literal["factual", "opinion", "not_a_claim"]


PASSAGES = Passages(verdicts=[Passage(passage=1, relation="entailed", confidence=0.95)])
TRIPLET = Triplets(triplets=[["A", "is", "b"]])


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ('{"verdicts": [{"passage": 1, "relation": "Entailed", "confidence": 95}]}', PASSAGES),
        (
            '{"Verdicts": [{"Passage": "Passage 1", "relation": "SUPPORTS", "confidence": "95%"}]}',
            PASSAGES,
        ),
        ('[{"passage": 1, "relation": "entailment", "confidence": 0.95}]', PASSAGES),
        ('{"passage": 1, "relation": "**entailed**", "confidence": 0.95}', PASSAGES),
        (
            "{'verdicts': [{'passage': 1, 'relation': 'entailed', 'confidence': 0.95, 'other': None}]}",
            PASSAGES,
        ),
        ('{"label": "not a claim"}', Decided(label="not_a_claim")),
        ('{"label": "Question."}', Decided(label="not_a_claim")),
        ('{"triplets": [{"subject": "A", "relation": "is", "object": "b"}]}', TRIPLET),
        ('[["A", "is", "b"]]', TRIPLET),
        ("It may be an opinion …</think>\n{'label': 'factual'}", Decided(label="factual")),
        ('[THINK]{"label": "opinion"}[/THINK]{"label": "factual"}', Decided(label="factual")),
        (
            '<|channel|>analysis<|message|>{"label": "opinion"}<|end|><|channel|>final<|message|>{"label": "factual"}',
            Decided(label="factual"),
        ),
        ('{"claims": ["A is\nb."]}', Claims(claims=["A is\nb."])),
        ("{'claims': ['It\\'s \"b\".', \"It's c.\",]}", Claims(claims=['It\'s "b".', "It's c."])),
        ("Here's the list: ['A is b.', 'True', True and None]", None),
        ('{"label": "opinion or factual"}', None),
        ('{"verdicts": [{"passage": 1, "relation": "entailed", "confidence": 950}]}', None),
    ],
)
def test_what_differs_only_in_form_is_read(reply: str, expected: BaseModel | None) -> None:
    if expected is not None:
        assert parse(reply, type(expected)) == expected
    else:
        for schema in (Passages, Decided):
            with pytest.raises(ValueError, match="does not parse"):
                parse(reply, schema)


def test_drafts_within_reasoning_that_was_cut_off_are_no_reply() -> None:
    with pytest.raises(ValueError, match="does not parse"):
        parse('<think>Perhaps {"label": "opinion"}? Or', Decided, truncated=True)
