"""PredPatt (White et al. 2016; Zhang et al. 2017): predicates and their arguments from a Universal
Dependencies tree.

The rules are those of the authors' program on UD v2. Words are counted from 0 in the order of the
sentence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from typing import Literal

from attribution.text.ud import Word

Kind = Literal["normal", "appos", "amod", "poss"]
SUBJECTS = {"nsubj", "csubj", "nsubj:pass", "csubj:pass"}
OBJECTS = {"obj", "iobj"}
_NOUN_LIKE = {"nmod", "obl", "nmod:npmod", "nmod:tmod", "nsubj", "csubj", "csubj:pass", *OBJECTS}
_MODIFIERS = {"amod", "appos", "acl", "acl:relcl"}
_HARD = {
    "amod",
    "dep",
    "conj",
    "acl",
    "acl:relcl",
    "advcl",
}  # of these a word's arguments are hard to find
_GOVERNING = {
    *SUBJECTS,
    *OBJECTS,
    "ccomp",
    "xcomp",
    "advcl",
}  # what has such a dependent is a predicate
_OF_VERBS = {"nmod", "nmod:npmod", "obl", "obl:npmod"}  # and a verb with one of these
_NOT_IN_PREDICATE = {
    "ccomp",
    "csubj",
    "advcl",
    "acl",
    "acl:relcl",
    "nmod:tmod",
    "parataxis",
    "appos",
    "dep",
}
_NOT_IN_DESCRIBED = {
    "nsubj",
    "obj",
    "iobj",
    "csubj",
    "csubj:pass",
    "neg",
    "aux",
    "advcl",
    "aux:pass",
    "ccomp",
    "cop",
    "mark",
    "fixed",
    "parataxis",
}
_TRIVIAL = {"mark", "cc", "punct"}
_RELATIVE = {"that", "which", "who"}


@dataclass(frozen=True)
class Options:
    """Predicates that are found beside verbs. The defaults are those of W24 B."""

    relcl: bool = True  # clauses that modify: relative, adnominal and adverbial ones
    appos: bool = True
    amod: bool = True
    conj: bool = True  # a predicate for each of several coordinated arguments
    poss: bool = True
    borrow_arg_for_relcl: bool = True  # the modified noun is an argument of the clause
    cut: bool = False  # an open complement ("wants to leave") is a predicate of its own


@dataclass(eq=False)
class Argument:
    root: int
    tokens: list[int] = field(default_factory=list)
    shared: bool = False  # borrowed from another predicate, with its list of words

    def reference(self) -> Argument:
        return Argument(self.root, self.tokens, True)


@dataclass(eq=False)
class Predicate:
    """A predicate: its words, and its arguments in the order of the sentence."""

    root: int
    kind: Kind = "normal"
    arguments: list[Argument] = field(default_factory=list)
    tokens: list[int] = field(default_factory=list)
    relative: bool = False  # the noun that its clause modifies is an argument

    def copy(self, arguments: Sequence[Argument]) -> Predicate:
        return Predicate(
            self.root, self.kind, [a.reference() for a in arguments], self.tokens[:], self.relative
        )


def predicates(words: Sequence[Word], options: Options = Options()) -> list[Predicate]:  # noqa: B008 — it is frozen
    """Return the predicates of one sentence in its order; those without words or arguments are left
    out.
    """
    return _Extraction(words, options).run()


class _Extraction:
    def __init__(self, words: Sequence[Word], options: Options) -> None:
        self.words, self.options = words, options
        self.heads = [w.head - 1 for w in words]
        self.relations = [w.relation for w in words]
        self.children: list[list[int]] = [
            [n for n, h in enumerate(self.heads) if h == i] for i in range(len(words))
        ]
        self.known: dict[int, Predicate] = {}  # by root
        self.events: list[Predicate] = []

    def run(self) -> list[Predicate]:
        self.known = self._roots()
        for one in self.known.values():
            one.arguments = list(self._arguments(one))
        self.events = self._merged()
        self._borrow_for_clauses()
        self._borrow_from_coordinated()
        self._borrow_for_adverbials("subject")
        if self.options.cut:
            self._borrow_for_complements()
        self._borrow_for_adverbials("object")
        self._borrow_from_governor()
        for one in self.events:
            one.arguments.sort(key=lambda a: a.root)
        found: list[Predicate] = []
        for one in self.events:
            self._phrases(one)
            if self.relations[one.root] == "conj":
                self._words_of_complement(one)
            if one.tokens:
                found += self._expanded(one)
        if self.options.relcl and self.options.borrow_arg_for_relcl:
            for one in found:
                if one.relative:
                    one.arguments = [
                        a for a in one.arguments if self._text(a.tokens) not in _RELATIVE
                    ]
        for one in found:
            one.arguments.sort(key=lambda a: a.root)
            one.tokens = self._stripped(one.tokens)
            for argument in one.arguments:
                argument.tokens = self._stripped(argument.tokens, is_argument=True)
        found.sort(key=lambda p: p.root)
        return [
            p for p in found if p.tokens and all(a.tokens for a in p.arguments) and _is_whole(p)
        ]

    def _text(self, tokens: Sequence[int]) -> str:
        return " ".join(self.words[t].text for t in tokens)

    # --- which words are predicates ---

    def _roots(self) -> dict[int, Predicate]:
        found: dict[int, Predicate] = {}
        for word, head in enumerate(self.heads):
            if self.words[word].upos == "PUNCT":
                continue
            if kind := self._modifies(word):
                found.setdefault(word, Predicate(word, kind))
            if head < 0 or self.relations[head] == "dep":
                continue
            relation = self.relations[word]
            if relation in {"ccomp", "csubj", "csubj:pass", "xcomp"} or (
                self.options.relcl and relation in {"advcl", "acl", "acl:relcl"}
            ):
                found.setdefault(word, Predicate(word))
            if self._governs(word, head):
                found.setdefault(head, Predicate(head))
        waiting = list(found)
        while waiting:
            one = waiting.pop()
            for other in self.children[one]:
                if self.relations[other] == "conj" and self._is_conjoined(one, other):
                    waiting.append(other)
                    found.setdefault(other, Predicate(other))
        return dict(sorted(found.items()))

    def _modifies(self, word: int) -> Kind | None:
        relation, head = self.relations[word], self.heads[word]
        if self.options.appos and relation == "appos":
            return "appos"
        if self.options.poss and relation == "nmod:poss":
            return "poss"
        adjective = (
            relation == "amod" and self.words[word].upos == "ADJ" and self.words[head].upos != "ADJ"
        )
        return "amod" if self.options.amod and adjective else None

    def _governs(self, word: int, head: int) -> bool:
        relation = self.relations[word]
        verbal = self.words[head].upos == "VERB" and relation in _OF_VERBS
        if not verbal and relation not in _GOVERNING:
            return False
        if relation == "ccomp" and self.relations[head] in _NOUN_LIKE:
            return False  # "our hope that …"
        if self.relations[head] == "xcomp":
            return self.heads[head] >= 0 and not self._is_hard(self.heads[head])
        return not self._is_hard(head)

    def _is_hard(self, word: int) -> bool:
        own = any(self.relations[c] in SUBJECTS | OBJECTS for c in self.children[word])
        return not own and self.relations[word] in _HARD

    def _is_conjoined(self, one: int, other: int) -> bool:
        tags = self.words[one].upos, self.words[other].upos
        return tags[1] != "PUNCT" and (tags[0] != "VERB" or tags[1] == "VERB")

    # --- their arguments ---

    def _arguments(self, one: Predicate) -> Iterator[Argument]:
        for word in self.children[one.root]:
            relation = self.relations[word]
            if relation in {"nsubj", "nsubj:pass", *OBJECTS, "ccomp", "csubj", "csubj:pass"}:
                yield Argument(word)
            elif relation.startswith(("nmod", "obl")):
                if one.kind != "amod":
                    yield Argument(word)
            elif self.options.cut and relation == "xcomp":
                yield Argument(word)
        for adverb in self.children[one.root]:
            if self.relations[adverb] == "advmod":
                of_adverb = [(w, self.relations[w]) for w in self.children[adverb]]
                yield from (Argument(w) for w, r in of_adverb if r.startswith("nmod") or r == "obl")
        if one.kind != "normal":
            yield Argument(self.heads[one.root])
        if one.kind == "poss":
            yield Argument(one.root)

    def _having(self, one: Predicate | None, relations: set[str]) -> Argument | None:
        return (
            next((a for a in one.arguments if self.relations[a.root] in relations), None)
            if one
            else None
        )

    def _governor(self, one: Predicate) -> Predicate | None:
        return self.known.get(self.heads[one.root])

    def _top(self, one: Predicate) -> Predicate | None:
        """Return the predicate above the chain of open complements that governs this one."""
        head = self.heads[one.root]
        while head >= 0 and self.relations[head] == "xcomp" and head in self.known:
            head = self.heads[head]
        return self.known.get(head)

    def _merged(self) -> list[Predicate]:
        """Give the arguments of open complements to the predicate above; return the predicates that
        are left.
        """
        left = list(self.known.values())
        for one in self.known.values():
            if (
                self.relations[one.root] == "xcomp"
                and not self.options.cut
                and (top := self._top(one)) is not None
            ):
                top.arguments += one.arguments
                left.remove(one)
        return left

    def _borrow(self, one: Predicate, argument: Argument | None) -> None:
        if argument is not None:
            one.arguments.append(argument.reference())

    def _borrow_for_clauses(self) -> None:
        for one in self.events if self.options.relcl and self.options.borrow_arg_for_relcl else ():
            if self.relations[one.root].startswith("acl"):
                one.arguments.append(Argument(self.heads[one.root]))
                one.relative = True

    def _borrow_from_coordinated(self) -> None:
        for one in self.events:
            first = self._governor(one)
            if self.relations[one.root] != "conj" or first is None:
                continue
            if self._having(one, SUBJECTS) is None:
                self._borrow(
                    one, self._having(first, SUBJECTS) or self._having(self._top(first), SUBJECTS)
                )
            if not one.arguments:
                self._borrow(one, self._having(first, OBJECTS))

    def _borrow_for_adverbials(self, role: Literal["subject", "object"]) -> None:
        """Borrow the governor's subject; after "from" and "for" its object: "kept him from
        leaving".
        """
        for one in self.events:
            if self.relations[one.root] != "advcl" or self._having(one, SUBJECTS) is not None:
                continue
            marks = {
                self.words[c].text for c in self.children[one.root] if self.relations[c] == "mark"
            }
            if ("object" if marks & {"from", "for"} else "subject") == role:
                self._borrow(
                    one,
                    self._having(self._governor(one), SUBJECTS if role == "subject" else OBJECTS),
                )

    def _borrow_for_complements(self) -> None:
        for one in self.events:
            above = self.heads[one.root] if self.relations[one.root] == "xcomp" else -1
            while above >= 0:
                governor = self.known.get(above)
                if (
                    lent := self._having(governor, OBJECTS) or self._having(governor, SUBJECTS)
                ) is not None:
                    self._borrow(one, lent)
                    break
                if governor is not None and self.relations[above] in _MODIFIERS:
                    one.arguments.append(Argument(self.heads[above]))
                    break
                above = self.heads[above]

    def _borrow_from_governor(self) -> None:
        for one in self.events:
            relation, governor = self.relations[one.root], self._governor(one)
            if one.kind != "normal" or governor is None or relation in {"csubj", "csubj:pass"}:
                continue
            if (
                relation.startswith("acl")
                or self._having(one, SUBJECTS)
                or any(a.shared for a in one.arguments)
            ):
                continue
            self._borrow(
                one, self._having(governor, SUBJECTS) or self._having(self._top(one), SUBJECTS)
            )

    # --- their words ---

    def _subtree(self, root: int, follow: Callable[[int, int], bool]) -> list[int]:
        found, waiting = [], [root]
        while waiting:
            found.append(word := waiting.pop())
            waiting += [c for c in self.children[word] if follow(word, c)]
        return found

    def _phrases(self, one: Predicate) -> None:
        if one.kind == "poss":
            one.tokens = [one.root]
        else:
            one.tokens = self._subtree(one.root, partial(self._is_in_predicate, one))
            for (
                argument
            ) in one.arguments:  # a preposition belongs to the predicate, not to its argument
                if self.relations[one.root] in _MODIFIERS and self.heads[one.root] == argument.root:
                    continue
                for word in self.children[argument.root]:
                    if self.relations[word] == "case":
                        one.tokens += self._subtree(word, lambda head, word: True)
        for argument in one.arguments:
            if not argument.shared and not argument.tokens:
                self._argument_phrase(one, argument)

    def _is_in_predicate(self, one: Predicate, head: int, word: int) -> bool:
        relation = self.relations[word]
        if word in {a.root for a in one.arguments} or relation in _NOT_IN_PREDICATE:
            return False
        if relation != "amod" and word in {p.root for p in self.events}:
            return False
        return not (
            relation in {"cc", "conj"} and (head == one.root or self.relations[head] == "xcomp")
        )

    def _argument_phrase(self, one: Predicate, argument: Argument) -> None:
        argument.tokens += self._subtree(
            argument.root, lambda head, word: self._is_in_argument(one, argument, head, word)
        )

    def _is_in_argument(self, one: Predicate, argument: Argument, head: int, word: int) -> bool:
        relation, direct = self.relations[word], head == argument.root
        if word in one.tokens or direct and relation == "case" or relation == "dep":
            return False
        if self.options.appos and relation == "appos":
            return False
        if direct and argument.root == self.heads[one.root] and relation in _NOT_IN_DESCRIBED:
            return False
        return not (self.options.conj and direct and relation in {"cc", "cc:preconj", "conj"})

    def _words_of_complement(self, one: Predicate) -> None:
        """Give "start" of "start firing and shooting" to the second as well."""
        head = self.heads[one.root]
        if (
            self.options.cut
            or head < 0
            or self.relations[head] != "xcomp"
            or (top := self._top(one)) is None
        ):
            return
        for word in top.tokens:
            adverb = self.heads[word] == head and self.relations[word] == "advmod"
            if word != head and not adverb and self.relations[word] != "case":
                one.tokens.append(word)

    def _expanded(self, one: Predicate) -> list[Predicate]:
        """Return a predicate for each combination of coordinated arguments."""
        if not self.options.conj or one.kind == "amod":
            one.arguments = [a for a in one.arguments if a.tokens]
            return [one] if one.arguments else []
        one.tokens = self._stripped(one.tokens)
        for argument in one.arguments:
            if not argument.shared:
                argument.tokens = self._stripped(argument.tokens, is_argument=True)
        choices: list[list[Argument]] = []
        for argument in one.arguments:
            if argument.shared or argument.tokens:
                same = [argument]
                if self.relations[argument.root] not in {"ccomp", "csubj"}:
                    same += [
                        Argument(c)
                        for c in self.children[argument.root]
                        if self.relations[c] == "conj"
                    ]
                same.sort(key=lambda a: a.root)
                for other in same:
                    if not other.shared and not other.tokens:
                        self._argument_phrase(one, other)
                choices.insert(0, same)
        return [one.copy(chosen) for chosen in product(*choices) if chosen]

    def _stripped(self, tokens: Sequence[int], is_argument: bool = False) -> list[int]:
        """Sort words, without marks, conjunctions and punctuation at the ends, and punctuation that
        stands twice.
        """
        left = sorted(tokens)
        while left and self.relations[left[0]] in _TRIVIAL:
            marked = is_argument and self.relations[left[0]] == "mark" and len(left) > 1
            if marked and self.words[left[1]].upos == "VERB":
                break  # "to leave"
            left.pop(0)
        while left and self.relations[left[-1]] in _TRIVIAL:
            left.pop()
        marks = [self.relations[word] == "punct" for word in left]
        return [
            word
            for n, word in enumerate(left)
            if not (marks[n] and n + 1 < len(left) and marks[n + 1])
        ]


def _is_whole(one: Predicate) -> bool:
    return one.kind != "poss" or len(one.arguments) == 2
