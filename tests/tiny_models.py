"""Tiny models with random weights, saved as the hub's are."""

from pathlib import Path
from typing import Any

WORDS = (
    "the river is long short blue boats came in harbour was quiet and . , ? one two three a b "
    "paragraph Yes No predict :"
)


def word_tokenizer(
    words: str = WORDS, end: str = "[SEP]", has_start: bool = True, tokens: int = 512
) -> Any:
    """Return a tokenizer of these words for windows of so many tokens."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    vocabulary = ["[PAD]", "[CLS]", end, "[UNK]", *dict.fromkeys(words.split())]
    inner = Tokenizer(models.WordLevel({w: i for i, w in enumerate(vocabulary)}, "[UNK]"))
    inner.pre_tokenizer = pre_tokenizers.Whitespace()
    single = f"[CLS] $A {end}" if has_start else f"$A {end}"
    inner.post_processor = processors.TemplateProcessing(
        single=single, pair=f"{single} $B:1 {end}:1", special_tokens=[("[CLS]", 1), (end, 2)]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=inner,
        pad_token="[PAD]",
        cls_token="[CLS]",
        sep_token=end,
        eos_token=end,
        unk_token="[UNK]",
        model_max_length=tokens,
    )


def save_bert(folder: Path, words: str = WORDS) -> None:
    """Write a BERT without a head, for windows of 64 tokens, and its tokenizer."""
    import torch
    from transformers import BertConfig, BertModel

    tokenizer = word_tokenizer(words, tokens=64)
    tokenizer.save_pretrained(folder)
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=64,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
    )
    BertModel(config).save_pretrained(folder)


def save_classifier(
    folder: Path, kind: str, labels: int = 2, tokens: int = 512, **more: Any
) -> str:
    """Write a RoBERTa or DeBERTa that sorts pairs, and its tokenizer."""
    import torch
    from transformers import AutoConfig, AutoModelForSequenceClassification

    tokenizer = word_tokenizer(end="</s>" if kind == "roberta" else "[SEP]", tokens=tokens)
    tokenizer.save_pretrained(folder)
    if kind == "deberta-v2":
        more |= {"relative_attention": True, "pos_att_type": ["p2c", "c2p"]}
    config = AutoConfig.for_model(
        kind,
        vocab_size=len(tokenizer),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=tokens + 2,
        type_vocab_size=1 if kind == "roberta" else 0,
        num_labels=labels,
        initializer_range=0.6,
        pad_token_id=0,
        **more,
    )
    torch.manual_seed(5)
    AutoModelForSequenceClassification.from_config(config).save_pretrained(folder)
    return str(folder)


def logits(folder: Path | str, *texts: str) -> Any:
    """Return what a saved classifier makes of a text or a pair, one number a label."""
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    model = AutoModelForSequenceClassification.from_pretrained(folder)
    inputs = AutoTokenizer.from_pretrained(folder)(*texts, return_tensors="pt")
    inputs.pop("token_type_ids", None)
    with torch.inference_mode():
        return model.eval()(**inputs).logits[0]
