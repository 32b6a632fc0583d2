"""Universal Dependencies v2 for English, and CoNLL-U.

spaCy's ClearNLP labels and heads are converted, and lemmas added.
"""

from __future__ import annotations

from bisect import insort
from dataclasses import dataclass, field

from spacy.tokens import Doc, Token

from attribution.segmenters.english.tree import lemma_of

LABELS = {
    "ROOT": "root",
    "acomp": "xcomp",
    "attr": "xcomp",
    "oprd": "xcomp",
    "auxpass": "aux:pass",
    "dative": "iobj",
    "csubjpass": "csubj:pass",
    "nsubjpass": "nsubj:pass",
    "dobj": "obj",
    "intj": "discourse",
    "meta": "dep",
    "neg": "advmod",
    "npadvmod": "obl:npmod",
    "poss": "nmod:poss",
    "preconj": "cc:preconj",
    "predet": "det:predet",
    "prt": "compound:prt",
    "quantmod": "advmod",
    "relcl": "acl:relcl",
    "prep": "advmod",
    "agent": "advmod",
    "pobj": "obl",
    "pcomp": "advcl",
    "": "dep",
}
_NOMINAL = {"NOUN", "PROPN", "PRON", "NUM"}
_LEAVES = {"cc", "punct", "aux", "auxpass", "cop"}  # words on which no other depends
_BE = frozenset("be am is are was were been being 's ’s 're ’re 'm ’m".split())
_SUBJECTS = {"nsubj", "nsubjpass"}


@dataclass(frozen=True)
class Word:
    """One word of a UD tree.

    Attributes:
        number: Its place in the sentence, from 1.
        upos: The universal part of speech.
        xpos: The tag of the Penn Treebank.
        feats: Morphological features; "_" for none.
        head: The number of the word it depends on; 0 for the root.
        relation: Of the two.
        space_after: A space follows in the text.
    """

    number: int
    text: str
    lemma: str
    upos: str
    xpos: str
    feats: str
    head: int
    relation: str
    space_after: bool


def to_ud(doc: Doc) -> list[Word]:
    """Convert a parse of one sentence.

    Spaces are left out; of several roots the first is the root of all.
    """
    nodes = _nodes(doc)
    for node in nodes:
        _turn_copula(node)
    for node in reversed(nodes):  # inner phrases come first
        _turn_preposition(node)
    _attach_conjuncts(nodes)
    for node in nodes:
        while node.head and node.head.label in _LEAVES and node.head.head:
            node.attach(node.head.head)
    return [_word(node, nodes) for node in nodes]


def to_conllu(doc: Doc) -> str:
    """Format a parse of one sentence as CoNLL-U, ten columns a word."""
    lines = [f"# text = {doc.text}"]
    for word in to_ud(doc):
        columns = [
            str(word.number),
            word.text,
            word.lemma,
            word.upos,
            word.xpos,
            word.feats,
            str(word.head),
            word.relation,
            "_",
            "_" if word.space_after else "SpaceAfter=No",
        ]
        lines.append("\t".join(columns))
    return "\n".join(lines)


@dataclass(eq=False)
class _Node:
    """A word under conversion; the root has no head."""

    number: int
    token: Token
    label: str
    head: _Node | None = None
    children: list[_Node] = field(default_factory=list)

    def attach(self, head: _Node | None) -> None:
        """Make it depend on another word."""
        if self.head:
            self.head.children.remove(self)
        self.head = head
        if head:
            insort(head.children, self, key=lambda node: node.number)

    def replace(self, old: _Node, label: str) -> None:
        """Take the place of the head, which becomes a dependent with this label."""
        for child in [child for child in old.children if child is not self]:
            child.attach(self)
        self.attach(old.head)
        self.label = old.label
        old.attach(self)
        old.label = label

    def with_label(self, *labels: str) -> list[_Node]:
        """Return its dependents with one of these labels."""
        return [child for child in self.children if child.label in labels]

    @property
    def objects(self) -> list[_Node]:
        """The objects of a preposition."""
        after = self.with_label("pobj", "pcomp", "obl", "nmod")
        return [child for child in after if child.number > self.number]


def _nodes(doc: Doc) -> list[_Node]:
    """Return a node for each word, with the heads and labels of the parse."""
    tokens = [token for token in doc if not token.is_space]
    nodes: dict[int, _Node] = {}
    for number, token in enumerate(tokens, 1):
        label = "compound" if token.dep_ == "nmod" else token.dep_  # without a preposition
        nodes[token.i] = _Node(number, token, label)
    for node in nodes.values():
        if node.token.head.i != node.token.i:
            node.attach(nodes.get(node.token.head.i))
    roots = [node for node in nodes.values() if not node.head]
    for other in roots[1:]:
        other.attach(roots[0])
        other.label = "parataxis"
    return list(nodes.values())


def _turn_copula(verb: _Node) -> None:
    """Make "is" depend on its predicate: an attribute, an adjective or a prepositional phrase."""
    if verb.token.lower_ not in _BE or verb.label in {"aux", "auxpass"}:
        return
    after = [child for child in verb.children if child.number > verb.number]
    predicates = [child for child in after if child.label in {"attr", "acomp"}]
    if any(word.token.lower_ == "there" for word in verb.with_label("expl")):
        for noun in predicates:
            noun.label = "nsubj"
        return
    phrases = [child for child in after if child.label == "prep" and child.objects]
    for predicate in (predicates or phrases)[:1]:
        predicate.replace(verb, "cop")


def _turn_preposition(node: _Node) -> None:
    """Make a preposition depend on its noun; before a clause it is a marker."""
    label, objects = node.label, node.objects
    is_preposition = node.token.pos_ in {"ADP", "SCONJ"} or label in {"prep", "agent"}
    if label == "cc" or not is_preposition or not objects:  # "rather than"
        return
    noun, is_clause = objects[0], objects[0].label == "pcomp"
    noun.replace(node, "mark" if is_clause else "case")
    if label == "agent":
        noun.label = "obl:agent"
    elif label in {"prep", "dative"}:
        of_noun = node.token.head.pos_ in _NOMINAL
        clause, phrase = ("acl", "nmod") if of_noun else ("advcl", "obl")
        noun.label = clause if is_clause else phrase


def _attach_conjuncts(nodes: list[_Node]) -> None:
    """Make conjuncts depend on the first one, and conjunctions on the conjunct after them.

    The full stop depends on the root.
    """
    for node in nodes:
        while node.label == "conj" and node.head and node.head.label == "conj":
            node.attach(node.head.head)
    for node in nodes:
        first = node.head if node.label == "cc" else None
        if first and first.label == "conj":
            first = first.head
        if first is None:
            continue
        after = [child for child in first.with_label("conj") if child.number > node.number]
        for conjunct in after[:1]:
            node.attach(conjunct)
    root = next((node for node in nodes[:-1] if not node.head), None)
    if root and nodes[-1].label == "punct":
        nodes[-1].attach(root)


def _word(node: _Node, nodes: list[_Node]) -> Word:
    token = node.token
    relation = _relation(node, nodes)
    is_adverb = token.tag_ == "WRB" or relation == "advmod" and token.pos_ == "ADP"
    return Word(
        number=node.number,
        text=token.text,
        lemma=lemma_of(token.text, token.pos_),
        upos="ADV" if is_adverb else token.pos_,
        xpos=token.tag_,
        feats=str(token.morph) or "_",
        head=node.head.number if node.head else 0,
        relation=relation,
        space_after=bool(token.whitespace_),
    )


def _relation(node: _Node, nodes: list[_Node]) -> str:
    """Return the relation of a word to its head, whose place it has by now."""
    label = node.label
    head = node.head
    tag = node.token.pos_
    if head is None:
        return "root"
    if tag == "PUNCT" and not node.children:
        return "punct"
    if label == "aux" and node.token.tag_ == "TO":
        return "mark"
    are_names = tag == head.token.pos_ == "PROPN"
    if label == "appos" and are_names and _is_place(node, nodes):
        return "nmod:npmod"  # "Lima, Peru"
    if label == "ROOT" or label == "punct" and tag != "PUNCT":
        return "dep"
    relation = LABELS.get(label, label)
    if relation == "advmod" and tag in {"NUM", "X", "SYM"}:
        return "nummod" if tag == "NUM" else "dep"
    is_predicate = bool(head.with_label("cop", *_SUBJECTS))
    if relation == "obl" and head.token.pos_ in _NOMINAL and not is_predicate:
        return "nmod"
    return relation


def _is_place(node: _Node, nodes: list[_Node]) -> bool:
    """Return True for a name without a determiner after a comma."""
    before = [child for child in node.children if child.number < node.number]
    first = min([node, *before], key=lambda word: word.number)
    comma = nodes[first.number - 2].token.text == ","
    return comma and not any(child.label in {"det", "poss"} for child in before)
