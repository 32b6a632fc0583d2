"""Is a claim worth checking? (V24, section 4.2: factual, opinion, not a claim, other). By rules, first match wins."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from attribution.types import Claim, Worthiness


@dataclass(frozen=True)
class Rule:
    worthiness: Worthiness
    reason: str
    pattern: re.Pattern[str]


def _rule(worthiness: Worthiness, reason: str, *patterns: str) -> Rule:
    return Rule(worthiness, reason, re.compile("|".join(f"(?:{p})" for p in patterns), re.IGNORECASE))


_I = r"\b(?:I|we|I'm|I've|I'd)\b"
RULES = (
    _rule("not_a_claim", "A question.", r"\?[\"'”’)\]]*$"),
    _rule(
        "not_a_claim",
        "An offer or greeting.",
        r"^(?:please )?(?:feel free|let me know|don't hesitate|do not hesitate|reach out)\b",
        r"\b(?:let me know|feel free to (?:ask|reach|contact|share)|happy to (?:help|assist|clarify|explain|provide)|"
        r"glad to (?:help|assist)|(?:I )?hope (?:this|that|it) (?:helps|was helpful|is helpful|clarifies))\b",
        r"^(?:hi|hello|hey|sure|certainly|of course|absolutely|great question|thank you|thanks|you're welcome"
        r"|good luck)\b[^.]{0,40}[!.]?$",
        r"^if you (?:have|need|want|like|wish|would like|'d like|are interested)\b.{0,120}\b(?:ask|let me know"
        r"|I (?:can|could|would|will|am)|I'm|I'll)\b",
        r"^(?:I|we)(?: can|'ll| will| would| could|'d| am| are|'m)? (?:also )?(?:be )?(?:happy|glad"
        r"|able to (?:help|provide|suggest)|love)\b",
        r"^would you like\b",
    ),
    _rule(
        "not_a_claim",
        "A disclaimer: it speaks of the answer itself.",
        r"\bas an? (?:AI|language model|assistant)\b",
        r"\bI(?: do not|'m not| am not| don't| cannot| can't| could not| couldn't| was unable| am unable"
        r"|'m unable)\b.{0,60}\b"
        r"(?:access|browse|lawyer|doctor|physician|professional|able|find|verify|confirm|know"
        r"|have (?:any )?(?:information|personal)|provide|determine|certain|sure)\b",
        r"\bmy (?:knowledge|training|information|data)\b",
        r"^(?:please )?(?:consult|speak|check|talk) (?:to |with )?(?:your|a|an|the) (?:own )?(?:qualified "
        r"|licensed |medical |legal |local |"
        r"healthcare |financial )*(?:doctor|physician|lawyer|attorney|professional|expert|specialist|adviser"
        r"|advisor|provider|pharmacist)\b",
        r"\bnot (?:\w+ ){0,3}(?:legal|medical|financial|professional|tax|investment) advice\b",
        r"\b(?:the |these )?(?:provided|given|search) (?:passages?|sources?|documents?|context"
        r"|results?)\b.{0,60}\b(?:not|no|lack)\b",
        r"\bI apologi[sz]e\b|^(?:sorry|unfortunately, I)\b",
    ),
    _rule(
        "not_a_claim",
        "It only announces what follows.",
        r":\s*$",
        r"^(?:here (?:are|is)|here's|below (?:are|is)|the following (?:are|is)|let's|let us"
        r"|consider the following|in (?:this|the following))\b[^.;]{0,90}[:.]$",
    ),
    _rule(
        "opinion",
        "A personal view.",
        rf"{_I}(?: \w+)? (?:think|believe|feel|guess|suppose|prefer|recommend|suggest|would say|would argue"
        rf"|hope|love|like|enjoy|"
        r"admire|find (?:it|that|this|him|her|them)|consider)\b",
        r"\b(?:in|to) my (?:opinion|view|mind|eyes)\b|^personally,|\bfor me,|\bmy (?:favou?rite|personal)\b"
        r"|\bif you ask me\b",
    ),
    _rule(
        "opinion",
        "A recommendation.",
        r"^(?:[\w ]{0,25}, )?you(?: really| definitely)? (?:should|might want|may want|ought|must"
        r"|could consider|may wish|might consider)\b",
        r"\b(?:is|are|remains?) (?:well |really |definitely |certainly )?worth (?:a |the |your |(?!noting"
        r"|mentioning|remembering|knowing)\w+ing)",
        r"\bit(?: is|'s| would be| may be| might be) (?:always |often |also |very |best |highly |generally )*"
        r"(?:advisable|recommended|wise|a good idea|best|worthwhile|helpful|tempting|important to consult)\b",
        r"^(?:make sure|be sure|remember|try|keep in mind|consider|take|avoid|always|never|don't|do not|start"
        r"|choose|use|check|ask|"
        r"look|read|visit|watch|see|seek|ensure|think|imagine|enjoy|follow|go|give)\b(?! (?:of|is|was|were|are"
        r"|has|had)\b)(?=.*[.!])",
    ),
    _rule(
        "opinion",
        "A value judgement without anything to check.",
        r"\b(?:arguably|undoubtedly|unquestionably|without (?:a )?doubt|no doubt|needless to say)\b",
        r"\b(?:is|are|was|were|remains?|makes?|feels?|seems?|looks?)\b(?: \w+){0,6} (?:beautiful|wonderful"
        r"|amazing|awesome|"
        r"fascinating|breathtaking|fantastic|incredible|boring|terrible|awful|delightful|charming|inspiring"
        r"|remarkable|thrilling|"
        r"elegant|astonishing|exciting|stunning|magnificent|unforgettable|lovely|admirable|impressive|"
        r"overrated|underrated|fun|gripping|timeless)\b(?! (?:to|for|by|because|in) )[^,;]{0,60}$",
        r"\b(?:is|are|was|were|remains?|be|among) (?:one of |perhaps |still )?the (?:most|least) (?:beautiful"
        r"|wonderful|amazing|fascinating|inspiring|remarkable|exciting|elegant|"
        r"impressive|interesting|thrilling|satisfying|moving|enjoyable|memorable|compelling|gripping|charming)\b",
        r"\b(?:nobody|no one|everyone|everybody|any\w+) (?:should|ought|must|can (?:fail|help)|could (?:fail"
        r"|help))\b",
        r"^(?:what|how) (?:a|an|\w+) [^.]*!$",
        r"\b(?:reminder of|testament to|tribute to) (?:how|what|the power|human)\b|\ba (?:matter"
        r"|question) of (?:taste|opinion)\b",
    ),
    _rule("other", "A made-up scenario.", r"^(?:imagine|suppose|picture|say|let's say)\b", r"\bhypothetical(?:ly)?\b"),
    _rule("other", "An address or code, not a statement.", r"^\W*(?:https?://|www\.)\S+\W*$", r"^[\w.]+\([^)]*\);?$"),
)
# somebody else's view is a fact about that person
_ATTRIBUTED = re.compile(
    r"\b(?:critics?|scholars?|historians?|scientists?|experts?|researchers?|economists?|many|some|people|he|she"
    r"|they|fans|"
    r"reviewers?|audiences?|[A-Z]\w+)\b[^.]{0,40}\b(?:said|says|say|called|calls|call|considered?|described?"
    r"|describes?|argued?|argues|"
    r"believed?|regard(?:ed)?|rated|wrote|thought|claimed?|praised|ranked|voted|named|hailed)\b|\b(?:is|are|was"
    r"|were) (?:often |widely |"
    r"generally |commonly |also )*(?:considered|regarded|described|seen|called|believed|known|thought|said)\b"
    r"|\baccording to\b"
)
_TABLE = re.compile(r"\|")
_WORDS = re.compile(r"[^\W\d_]+")


def judge(claims: Sequence[Claim]) -> list[Claim]:
    """The claims with `worthiness` and, where it is not factual, the reason."""
    return [
        c.model_copy(update=dict(zip(("worthiness", "worthiness_reason"), judge_text(c.text), strict=True)))
        for c in claims
    ]


def judge_text(text: str) -> tuple[Worthiness, str]:
    """(class, reason in an analyst's words); when in doubt, factual."""
    text = " ".join(text.replace("’", "'").split())
    attributed = _ATTRIBUTED.search(text)
    for rule in RULES:
        if rule.worthiness == "opinion" and rule.reason.startswith("A value") and attributed:
            continue
        if rule.pattern.search(text):
            return rule.worthiness, rule.reason
    if not _TABLE.search(text) and _is_fragment(text):
        return "other", "A fragment: it states nothing that could be checked."
    return "factual", ""


def _is_fragment(text: str) -> bool:
    """Few words, no figure, and no verb that says something of a subject."""
    words = len(_WORDS.findall(text))
    if words > 7 or any(c.isdigit() for c in text) or (words > 3 and text[-1] in ".!"):
        return False
    from attribution.language import parse

    return not any(t.pos_ in ("VERB", "AUX") for t in parse(text))
