"""Universal Dependencies v2 for English: spaCy's ClearNLP labels and heads converted, with lemmas,
and CoNLL-U.
"""

from __future__ import annotations

from dataclasses import dataclass

from spacy.tokens import Doc, Token

from attribution.text.parse import lemma_of

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
_BE = {
    "be",
    "am",
    "is",
    "are",
    "was",
    "were",
    "been",
    "being",
    "'s",
    "’s",
    "'re",
    "’re",
    "'m",
    "’m",
}


@dataclass(frozen=True)
class Word:
    """One word of a UD tree. Numbers count from 1; the head of the root is 0."""

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
    """Convert a parse of one sentence. Spaces are left out; of several roots the first is the root
    of all.
    """
    tree = _Tree([t for t in doc if not t.is_space])
    tree.turn_copulas()
    tree.turn_prepositions()
    tree.attach_conjuncts()
    tree.free_function_words()
    return tree.words()


def to_conllu(doc: Doc) -> str:
    """Format a parse of one sentence as CoNLL-U, ten columns a word."""
    lines = [f"# text = {doc.text}"]
    for w in to_ud(doc):
        space = "_" if w.space_after else "SpaceAfter=No"
        columns = (
            w.number,
            w.text,
            w.lemma,
            w.upos,
            w.xpos,
            w.feats,
            w.head,
            w.relation,
            "_",
            space,
        )
        lines.append("\t".join(map(str, columns)))
    return "\n".join(lines)


class _Tree:
    """Heads and labels under conversion; the head of the root is -1."""

    def __init__(self, tokens: list[Token]) -> None:
        place = {t.i: n for n, t in enumerate(tokens)}
        self.tokens = tokens
        self.heads = [-1 if t.head.i == t.i else place.get(t.head.i, -1) for t in tokens]
        self.labels = [
            "compound" if t.dep_ == "nmod" else t.dep_ for t in tokens
        ]  # without a preposition
        roots = [n for n, head in enumerate(self.heads) if head < 0]
        for other in roots[1:]:
            self.heads[other], self.labels[other] = roots[0], "parataxis"

    def children(self, head: int) -> list[int]:
        return [n for n, h in enumerate(self.heads) if h == head]

    def _replace(self, old: int, new: int, label: str) -> None:
        """Put a dependent in the place of its head, which becomes its dependent with this label."""
        for child in self.children(old):
            if child != new:
                self.heads[child] = new
        self.heads[new], self.labels[new] = self.heads[old], self.labels[old]
        self.heads[old], self.labels[old] = new, label

    def turn_copulas(self) -> None:
        """Make "is" depend on its predicate: an attribute, an adjective or a prepositional phrase."""
        for verb, token in enumerate(self.tokens):
            if token.lower_ not in _BE or self.labels[verb] in {"aux", "auxpass"}:
                continue
            children = self.children(verb)
            there = [
                c for c in children if self.labels[c] == "expl" and self.tokens[c].lower_ == "there"
            ]
            predicates = [c for c in children if self.labels[c] in {"attr", "acomp"} and c > verb]
            if there:
                for noun in predicates:
                    self.labels[noun] = "nsubj"
                continue
            phrases = [
                c for c in children if self.labels[c] == "prep" and c > verb and self._objects(c)
            ]
            if predicates or phrases:
                self._replace(verb, (predicates or phrases)[0], "cop")

    def _objects(self, preposition: int) -> list[int]:
        labels = {"pobj", "pcomp", "obl", "nmod"}
        return [
            c for c in self.children(preposition) if self.labels[c] in labels and c > preposition
        ]

    def turn_prepositions(self) -> None:
        """Make a preposition depend on its noun; before a clause it is a marker. Inner phrases come
        first.
        """
        for preposition in reversed(range(len(self.tokens))):
            label, objects = self.labels[preposition], self._objects(preposition)
            if label == "cc":
                continue  # "rather than"
            if (
                self.tokens[preposition].pos_ not in {"ADP", "SCONJ"}
                and label not in {"prep", "agent"}
                or not objects
            ):
                continue
            clause, before = self.labels[objects[0]] == "pcomp", self.tokens[preposition].head
            self._replace(preposition, objects[0], "mark" if clause else "case")
            if label in {"prep", "agent", "dative"}:
                kinds = ("acl", "nmod") if before.pos_ in _NOMINAL else ("advcl", "obl")
                self.labels[objects[0]] = (
                    "obl:agent" if label == "agent" else kinds[0 if clause else 1]
                )

    def attach_conjuncts(self) -> None:
        """Make conjuncts depend on the first, conjunctions on the conjunct after them, the full
        stop on the root.
        """
        for n in range(len(self.tokens)):
            while (
                self.labels[n] == "conj"
                and self.heads[n] >= 0
                and self.labels[self.heads[n]] == "conj"
            ):
                self.heads[n] = self.heads[self.heads[n]]
        for n, label in enumerate(self.labels):
            if label != "cc" or self.heads[n] < 0:
                continue
            first = (
                self.heads[n] if self.labels[self.heads[n]] != "conj" else self.heads[self.heads[n]]
            )
            after = [c for c in self.children(first) if self.labels[c] == "conj" and c > n]
            if after:
                self.heads[n] = after[0]
        if self.labels[-1:] == ["punct"] and -1 in self.heads[:-1]:
            self.heads[-1] = self.heads.index(-1)

    def free_function_words(self) -> None:
        """Make what depends on a conjunction, a mark or an auxiliary depend on the word above it."""
        for n in range(len(self.tokens)):
            while (
                self.heads[n] >= 0
                and self.labels[self.heads[n]] in _LEAVES
                and self.heads[self.heads[n]] >= 0
            ):
                self.heads[n] = self.heads[self.heads[n]]

    def _follows_comma(self, n: int) -> bool:
        """Return True for a name without a determiner after a comma."""
        own = [n, *(c for c in self.children(n) if c < n)]
        return self.tokens[min(own) - 1].text == "," and not any(
            self.labels[c] in {"det", "poss"} for c in own[1:]
        )

    def words(self) -> list[Word]:
        relations = [self._relation(n) for n in range(len(self.tokens))]
        return [
            Word(
                n + 1,
                t.text,
                lemma_of(t.text, t.pos_),
                self._upos(n, relation),
                t.tag_,
                str(t.morph) or "_",
                self.heads[n] + 1,
                relation,
                bool(t.whitespace_),
            )
            for n, (t, relation) in enumerate(zip(self.tokens, relations, strict=True))
        ]

    def _upos(self, n: int, relation: str) -> str:
        """Return the tag: "when" and a preposition without its noun are adverbs."""
        token = self.tokens[n]
        return (
            "ADV"
            if token.tag_ == "WRB" or relation == "advmod" and token.pos_ == "ADP"
            else token.pos_
        )

    def _relation(self, n: int) -> str:
        label, head, tag = self.labels[n], self.heads[n], self.tokens[n].pos_
        if head < 0:
            return "root"
        if tag == "PUNCT" and not self.children(n):
            return "punct"
        if label == "aux" and self.tokens[n].tag_ == "TO":
            return "mark"
        if label == "appos" and tag == self.tokens[head].pos_ == "PROPN" and self._follows_comma(n):
            return "nmod:npmod"  # "Lima, Peru"
        relation = (
            "dep" if label in {"ROOT", "punct"} and tag != "PUNCT" else LABELS.get(label, label)
        )
        if relation == "advmod" and tag in {"NUM", "X", "SYM"}:
            return "nummod" if tag == "NUM" else "dep"
        if relation == "obl" and self.tokens[head].pos_ in _NOMINAL:
            predicate = any(
                self.labels[c] in {"cop", "nsubj", "nsubjpass"} for c in self.children(head)
            )
            return relation if predicate else "nmod"
        return relation
