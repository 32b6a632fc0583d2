import json
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from attribution.llm.replies import ReplyError, json_schema, parse


class Claims(BaseModel):
    claims: list[str]


class Judged(BaseModel):
    reason: str = ""
    label: Literal["entailed", "contradicted", "no_relation"]


class Judgements(BaseModel):
    verdicts: list[Judged]


@pytest.mark.parametrize(
    "reply",
    [
        '{"claims": ["A is b.", "C is [d]."]}',
        '```json\n{"claims": ["A is b.", "C is [d]."]}\n```',
        'Here you are:\n```\n["A is b.", "C is [d]."]\n```\nAnything else?',
        'Sure! {"claims": ["A is b.", "C is [d]."]} I hope this helps.',
        '{"claims": ["A is b.", "C is [d].",],}',
        "{'claims': ['A is b.', 'C is [d].']}",
        "1. A is b.\n2. C is [d].",
        "Here are the claims:\n- A is b.\n- “C is [d].”\n",
        '<think>- not this\n{"claims": []}</think>{"claims": ["A is b.", "C is [d]."]}',
    ],
)
def test_lists_of_every_form_are_read(reply: str) -> None:
    assert parse(reply, Claims).claims == ["A is b.", "C is [d]."]


@pytest.mark.parametrize(
    "reply", ["", "A is b.", '{"claims": "A is b."}', '{"claims": null}', "[" * 100_000, "{"]
)
def test_a_reply_of_another_form_is_an_error(reply: str) -> None:
    with pytest.raises(ReplyError, match="does not parse: expected JSON with claims"):
        parse(reply, Claims)


@pytest.mark.parametrize("reply", ["I'm sorry, but I can't help with that.", "I cannot do this."])
def test_a_refusal_is_named(reply: str) -> None:
    with pytest.raises(ReplyError, match="it refused"):
        parse(reply, Claims)


@given(
    st.lists(
        st.sampled_from(
            ['"', "[", "]", "{", "}", ",", ":", "claims", "```", "\\", "- a", "\n", "1" * 5000]
        )
    )
)
def test_any_reply_parses_or_is_an_error(parts: list[str]) -> None:
    try:
        claims = parse("".join(parts), Claims).claims
    except ReplyError as error:
        assert len(str(error)) < 300
    else:
        assert all(isinstance(claim, str) for claim in claims)


def test_a_reply_that_is_too_long_is_an_error_and_reasoning_does_not_count() -> None:
    with pytest.raises(ReplyError, match="expected at most 200,000: lower llm_tokens"):
        parse("a" * 200_001, Claims)
    assert parse(f"<think>{'a' * 200_001}</think>[]", Claims).claims == []


def test_a_schema_requires_all_fields_and_allows_no_others() -> None:
    schema = json_schema(Judgements)
    item = schema["properties"]["verdicts"]["items"]
    assert item["additionalProperties"] is False
    assert item["required"] == ["reason", "label"]
    assert "$ref" not in json.dumps(schema)
