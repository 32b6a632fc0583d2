"""Loading, batching and reading of a sequence-to-sequence segmenter, on a tiny T5 made and taught
here.
"""

from pathlib import Path

import pytest

from attribution.segmenters.propsegment import INPUT, PropSegment
from attribution.settings import Settings
from tests.tiny_models import word_tokenizer

WORDS = "segment sentence : the river is long and blue . boats came in 1899"
LESSONS = {
    "the river is long and blue.": "the river is long. [sep] the river is blue.",
    "boats came in 1899.": "boats came. [sep] boats came in 1899.",
}


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    import torch
    from transformers import T5Config, T5ForConditionalGeneration

    folder = tmp_path_factory.mktemp("tiny-t5")
    tokenizer = word_tokenizer(WORDS, end="</s>", has_start=False)
    tokenizer.add_tokens(["[sep]"])
    torch.manual_seed(1)
    config = T5Config(
        vocab_size=len(tokenizer),
        d_model=32,
        d_kv=16,
        d_ff=64,
        num_layers=1,
        num_heads=2,
        dropout_rate=0.0,
        decoder_start_token_id=0,
        pad_token_id=0,
        eos_token_id=2,
    )
    model = T5ForConditionalGeneration(config)
    batch = tokenizer([INPUT.format(s) for s in LESSONS], return_tensors="pt", padding=True)
    labels = tokenizer(list(LESSONS.values()), return_tensors="pt", padding=True).input_ids
    labels = labels.masked_fill(labels == 0, -100)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.003)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # several wait for each other longer than they compute
    for _ in range(120):
        loss = model(
            input_ids=batch.input_ids, attention_mask=batch.attention_mask, labels=labels
        ).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    torch.set_num_threads(threads)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def test_what_the_model_writes_becomes_claims_with_their_words(tiny: Path) -> None:
    answer = "the river is long and blue.\n\nboats came in 1899."
    segmenter = PropSegment(Settings(segmenter_model=str(tiny)))
    made = segmenter.segment("", answer)
    texts = [claim.text.replace(" .", ".").rstrip(".") for claim in made.claims]
    assert texts == ["the river is long", "the river is blue", "boats came", "boats came in 1899"]
    assert made.failures == ()
    assert all(claim.spans for claim in made.claims)
    raw = segmenter.decompose(["boats came in 1899."])
    assert [len(claims) for claims in raw] == [2]
