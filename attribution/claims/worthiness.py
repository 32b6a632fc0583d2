"""Is a claim worth checking? (V24, section 4.2: factual, opinion, not a claim, other). By rules, first match wins."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from attribution.types import Claim, Worthiness

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token


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
        r"\b(?:let me know|feel free to (?:ask|reach|contact|share)|happy to (?:help|assist|clarify|explain"
        r"|provide)|glad to (?:help|assist)|(?:I )?hope (?:this|that|it) (?:helps|was helpful|is helpful"
        r"|clarifies))\b",
        r"^(?:hi|hello|hey|sure|certainly|of course|absolutely|great question|thank you|thanks|you're welcome|good"
        r" luck)\b[^.]{0,40}[!.]?$",
        r"^if you (?:have|need|want|like|wish|would like|'d like|are interested)\b.{0,120}\b(?:ask|let me know|I"
        r" (?:can|could|would|will|am)|I'm|I'll)\b",
        r"^(?:I|we)(?: can|'ll| will| would| could|'d| am| are|'m)? (?:also )?(?:be )?(?:happy|glad|able to (?:help"
        r"|provide|suggest)|love)\b",
        r"^would you like\b",
    ),
    _rule(
        "not_a_claim",
        "A disclaimer: it speaks of the answer itself.",
        r"\bas an? (?:AI|language model|assistant)\b",
        r"\bI(?: do not|'m not| am not| don't| cannot| can't| could not| couldn't| was unable| am unable|'m"
        r" unable)\b.{0,60}\b(?:access|browse|lawyer|doctor|physician|professional|able|find|verify|confirm|know"
        r"|have (?:any )?(?:information|personal)|provide|determine|certain|sure)\b",
        r"\bmy (?:knowledge|training|information|data)\b",
        r"^(?:please )?(?:consult|speak|check|talk) (?:to |with )?(?:your|a|an|the) (?:own )?(?:qualified |licensed"
        r" |medical |legal |local |healthcare |financial )*(?:doctor|physician|lawyer|attorney|professional|expert"
        r"|specialist|adviser|advisor|provider|pharmacist)\b",
        r"\bnot (?:\w+ ){0,3}(?:legal|medical|financial|professional|tax|investment) advice\b",
        r"\b(?:the |these )?(?:provided|given|search) (?:passages?|sources?|documents?|context"
        r"|results?)\b.{0,60}\b(?:not|no|lack)\b",
        r"\bnot (?:\w+ ){0,2}(?:detailed|mentioned|given|provided|specified|covered|included|discussed|addressed)"
        r" (?:in|by) (?:the|these|this) (?:\w+ )?(?:passages?|sources?|documents?|context|results?|text"
        r"|information)\b",
        r"\b(?:im|not )possible to\b.{0,80}\b(?:information|context|passages?|details?) (?:given|provided"
        r"|available)\b",
        r"\b(?:results?|sources?|closest \w+|information) (?:that )?I (?:found|could find|was able to find)\b",
        r"\bthese (?:suggestions|recommendations|steps|tips|examples|answers) (?:are|do|may|might)\b.{0,20}\bnot\b",
        r"\b(?:note|remember) that (?:this|the above|these) (?:algorithm|list|answer|approach|example|summary"
        r"|outline|steps?)\b",
        r"^it (?:might|may|could) be a (?:misunderstanding|mix-up|typo|confusion)\b",
        r"\bI apologi[sz]e\b|^(?:sorry|unfortunately, I)\b|^I'?(?:m| am) (?:glad|sorry|happy)\b",
    ),
    _rule(
        "not_a_claim",
        "It only announces what follows.",
        r":\s*$",
        r"\b(?:there are|you can|one can)\b.{0,40}\b(?:several|a few|some|various|many|a number of|different)"
        r" (?:possible |other |different |key |general )?(?:scenarios|ways|steps|options|things|tips"
        r"|possibilities)\b[^,;:]{0,40}\.$",
        r"^(?:here (?:are|is)|here's|below (?:are|is)|the following (?:are|is)|let's|let us|consider the following"
        r"|in (?:this|the following))\b[^.;]{0,90}[:.]$",
    ),
    _rule(
        "opinion",
        "A personal view.",
        rf"{_I}(?: \w+)? (?:think|believe|feel|guess|suppose|prefer|recommend|suggest|would say|would argue"
        rf"|hope|love|like|enjoy|"
        r"admire|find (?:it|that|this|him|her|them)|consider)\b",
        r"\b(?:in|to) my (?:opinion|view|mind|eyes)\b|^personally,|\bfor me,|\bmy (?:favou?rite|personal)\b|\bif"
        r" you ask me\b",
    ),
    _rule(
        "opinion",
        "A recommendation.",
        r"^(?:[\w ]{0,25}, |(?:if|when|once)\b[^.;]{0,120}, )?you(?: really| definitely)? (?:should|might want|may"
        r" want|ought|must|could|may wish|might consider|may need|might need|will need|will want|would need|need to"
        r"|would want)\b",
        r"\b(?:he|she|educators?|teachers?|parents?|organi[sz]ations?|compan(?:y|ies)|businesses|governments?"
        r"|people|individuals|students|users|developers|managers?|leaders|employers|policymakers|everyone|one|we)"
        r" (?:should|ought to)(?: also| then| always| first| never| not| aim to)? (?!be \w+ed\b|have\b)\w+",
        r"\bit(?:'s| is| would be)(?: also| therefore| thus| very)? (?:crucial|important|essential|vital|imperative"
        r"|necessary|critical) (?:to|that you) (?!(?:note|remember|understand|consider|recogni[sz]e|mention|know"
        r"|acknowledge|keep|point|remark|stress|emphasi[sz]e|add|reali[sz]e|say)\b)\w",
        r"\b(?:the |this )?(?:best|right|ideal|appropriate) \w+ (?:will |may |might )?depends? on your\b",
        r"\b(?:is|are|remains?) (?:well |really |definitely |certainly )?worth (?:a |the |your |(?!noting"
        r"|mentioning|remembering|knowing)\w+ing)",
        r"\bit(?: is|'s| would be| may be| might be) (?:always |often |also |very |best |highly |generally"
        r" )*(?:advisable|recommended|wise|a good idea|best|worthwhile|helpful|tempting|important to consult)\b",
        r"^(?![^.]{0,80}: )(?:make sure|be sure|remember|try|keep in mind|consider|take|avoid|always|never|don't|do"
        r" not|start|choose|use|check|ask|look|read|visit|watch|see|seek|ensure|think|imagine|enjoy|follow|go"
        r"|give)\b(?! (?:of|is|was|were|are|has|had)\b)(?=.*[.!])",
    ),
    _rule(
        "opinion",
        "A value judgement without anything to check.",
        r"\b(?:arguably|undoubtedly|unquestionably|without (?:a )?doubt|no doubt|needless to say)\b",
        r"\b(?:is|are|was|were|remains?|makes?|feels?|seems?|looks?)\b(?: \w+){0,6} (?:beautiful|wonderful|amazing"
        r"|awesome|fascinating|breathtaking|fantastic|incredible|boring|terrible|awful|delightful|charming"
        r"|inspiring|remarkable|thrilling|elegant|astonishing|exciting|stunning|magnificent|unforgettable|lovely"
        r"|admirable|impressive|overrated|underrated|fun|gripping|timeless)\b(?! (?:to|for|by|because|in)"
        r" )[^,;]{0,60}$",
        r"\b(?:is|are|was|were|remains?|be|among) (?:one of |perhaps |still )?the (?:most|least) (?:beautiful"
        r"|wonderful|amazing|fascinating|inspiring|remarkable|exciting|elegant|impressive|interesting|thrilling"
        r"|satisfying|moving|enjoyable|memorable|compelling|gripping|charming)\b",
        r"\b(?:nobody|no one|everyone|everybody|any\w+) (?:should|ought|must|can (?:fail|help)|could (?:fail"
        r"|help))\b",
        r"^(?:what|how) (?:a|an|\w+) [^.]*!$",
        r"\b(?:reminder of|testament to|tribute to) (?:how|what|the power|human)\b|\ba (?:matter|question) of"
        r" (?:taste|opinion)\b",
    ),
    _rule(
        "other",
        "A made-up scenario.",
        r"^(?:imagine|suppose|picture|say|let's say)\b",
        r"\bhypothetical(?:ly)?\b",
        r"\b(?:country|language|company|person|planet|nation|city|team) [LXYZ]\b",
        r"\bif\b[^.;]{0,60}\bhad(?: not|n't| never)? \w+[^.;]{0,60}, .{0,60}\b(?:would|might|could)(?: not|n't)?(?:"
        r" have|'ve)\b",
        r"\b(?:might|could|would) (?:not )?have \w+[^.;]{0,80}\b(?:if|without|had)\b"
        r"|\bwithout\b[^.;]{0,80}\b(?:might|could|would) (?:not )?have \w+(?:ed|en)\b",
    ),
    _rule("other", "An address or code, not a statement.", r"^\W*(?:https?://|www\.)\S+\W*$", r"^[\w.]+\([^)]*\);?$"),
    _rule("other", "A formula or the key to one.", r"^\W*\$\$?[^$]+\$\$?\W*$", r"^where (?:\$|\w{1,2} ?=)"),
)
# somebody else's view is a fact about that person
_ATTRIBUTED = re.compile(
    r"\b(?:critics?|scholars?|historians?|scientists?|experts?|researchers?|economists?|many|some|people|he|she"
    r"|they|fans|reviewers?|audiences?|[A-Z]\w+)\b[^.]{0,40}\b(?:said|says|say|called|calls|call|considered?"
    r"|described?|describes?|argued?|argues|believed?|regard(?:ed)?|rated|wrote|thought|claimed?|praised|ranked"
    r"|voted|named|hailed)\b|\b(?:is|are|was|were) (?:often |widely |generally |commonly |also )*(?:considered"
    r"|regarded|described|seen|called|believed|known|thought|said)\b|\baccording to\b"
)
_REPORTED = re.compile(
    r"^(?:I|we)\b[^,]{0,60}, but (?:based on|according to)\b", re.IGNORECASE
)  # a disclaimer, then a fact
_TABLE = re.compile(r"\|")
_WORDS = re.compile(r"[^\W\d_]+")
_TITLE = re.compile(r"^[-–•*\s]*(?:[^:.!?]{1,80}: +)?")
_CONDITION = re.compile(
    r"^(?:(?:if|when|once|where|in|to|for|during|after|before|by|with)\b[^.;:]{0,120}?, )", re.IGNORECASE
)
_OPENING = re.compile(
    r"^(?:\w+(?:ly)?|for (?:example|instance)|in addition|as well|first of all|in summary), ", re.IGNORECASE
)
# read as nouns by the parser where they open a sentence
_ORDERS = re.compile(
    r"^(?:avoid|use|consider|implement|monitor|ensure|provide|design|practice|plan|place|place and route|treat"
    r"|recommend|establish|create|develop|encourage|conduct|review|schedule|seek|guide|set|test|increase|reduce"
    r"|limit|store|label|call|share|support|focus|check|remind|negotiate|refer|identify|include|keep|employ)\b(?!"
    r" (?:of|is|was|were|are|has|had|may|can|must|will|in|for|by|and|:)\b)",
    re.IGNORECASE,
)


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
        if rule.reason.startswith("A disclaimer") and _REPORTED.search(text):
            continue
        if rule.worthiness == "opinion" and rule.reason.startswith("A value") and attributed:
            continue
        if rule.pattern.search(text):
            return rule.worthiness, rule.reason
    if _TABLE.search(text) or not _WORDS.search(text):
        return "factual", ""
    return _by_parse(text)


def _by_parse(text: str) -> tuple[Worthiness, str]:
    """Instructions and fragments, which only a parse tells from statements."""
    from attribution.text.nlp import parse

    doc = parse(text)
    if _is_fragment(text, doc):
        return "other", "A fragment: it states nothing that could be checked."
    body = _OPENING.sub("", _TITLE.sub("", text, count=1), count=1)
    body = _CONDITION.sub("", body, count=1)
    if body[:1] and (_ORDERS.match(body) and not _has_subject(parse(body)) or _is_order(parse(body))):
        return "opinion", "An instruction or advice."
    if _states_nothing(parse(body), text):
        return "other", "A fragment: a phrase without a statement of its own."
    return "factual", ""


def _root(doc: Doc) -> Token | None:
    return next(iter(doc.sents)).root if len(doc) else None


def _has_subject(doc: Doc) -> bool:
    return any(t.dep_ in ("nsubj", "nsubjpass", "expl", "csubj", "csubjpass") for t in _root(doc).children)


def _is_order(doc: Doc) -> bool:
    """It begins with a verb in its base form and has no subject."""
    root = _root(doc)
    if root is None or root.tag_ != "VB" or root.i > 1 or root.lower_ in ("note", "notice", "recall", "let"):
        return False
    return not _has_subject(doc) and not any(t.dep_ == "aux" for t in root.children)


def _states_nothing(doc: Doc, text: str) -> bool:
    """A noun phrase or participle with all that hangs on it; a figure or name in it may still be a fact."""
    root = _root(doc)
    if root is None or _has_subject(doc) or any(c.isdigit() for c in text) or len(list(doc.sents)) > 1:
        return False
    if root.tag_ == "VBG":
        return root.i == 0 and not any(t.dep_ == "aux" for t in root.children)
    relative = {t.i for c in root.children if c.dep_ == "relcl" for t in c.subtree}
    verbs = [t for t in doc if t.pos_ in ("VERB", "AUX")]
    return root.pos_ == "NOUN" and bool(relative) and all(t.i in relative and t.tag_ != "VBD" for t in verbs)


def _is_fragment(text: str, doc: Doc) -> bool:
    """Few words, no figure, and no verb that says something of a subject."""
    words = len(_WORDS.findall(text))
    if words > 7 or any(c.isdigit() for c in text) or (words > 3 and text[-1] in ".!"):
        return False
    return not any(t.pos_ in ("VERB", "AUX") for t in doc)
