"""PredPatt: predicates and their arguments from a Universal Dependencies tree.

The rules are those of the authors' program (White et al. 2016; Zhang et al. 2017) on UD v2, with
the flags of W24 B: relative clauses, appositions, adjectives, conjunctions, possessives,
`borrow_arg_for_relcl` and `strip`. Words are counted from 0 in the order of the sentence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Literal

from attribution.segmenters.english.ud import Word

Kind = Literal["normal", "appos", "amod", "poss"]
SUBJECTS = {"nsubj", "csubj", "nsubj:pass", "csubj:pass"}
OBJECTS = {"obj", "iobj"}
CLAUSAL_OBJECTS = {"ccomp", "csubj", "csubj:pass"}
NOUN_LIKE = {"nmod", "obl", "nmod:npmod", "nmod:tmod", "nsubj", "csubj", "csubj:pass", *OBJECTS}
ADNOMINAL = {"acl", "acl:relcl"}
MODIFIERS = {"amod", "appos", *ADNOMINAL}
# A word in one of these relations is a predicate only if it has its own subject or object.
HARD = {"amod", "dep", "conj", "advcl", *ADNOMINAL}
# The governor of a dependent in one of these relations is a predicate.
GOVERNED = {*SUBJECTS, *OBJECTS, "ccomp", "xcomp", "advcl"}
GOVERNED_BY_VERBS = {"nmod", "nmod:npmod", "obl", "obl:npmod"}
CLAUSES = {"ccomp", "csubj", "csubj:pass", "xcomp", "advcl", *ADNOMINAL}
OUTSIDE_PREDICATE = {"ccomp", "csubj", "advcl", "nmod:tmod", "parataxis", "appos", "dep"}
OUTSIDE_DESCRIBED = {
    *("nsubj", "obj", "iobj", "csubj", "csubj:pass", "neg", "aux", "advcl", "aux:pass"),
    *("ccomp", "cop", "mark", "fixed", "parataxis"),
}
TRIVIAL = {"mark", "cc", "punct"}
RELATIVE_PRONOUNS = {"that", "which", "who"}


@dataclass(eq=False)
class Argument:
    """An argument of a predicate.

    Attributes:
        root: Its head word.
        tokens: All its words.
        is_shared: It is borrowed from another predicate, together with its list of tokens.
    """

    root: int
    tokens: list[int] = field(default_factory=list)
    is_shared: bool = False

    def reference(self) -> Argument:
        """Return the argument as another predicate borrows it."""
        return Argument(self.root, self.tokens, True)


@dataclass(eq=False)
class Predicate:
    """A predicate: its words, and its arguments in the order of the sentence.

    Attributes:
        is_relative: One argument is the noun that its clause modifies.
    """

    root: int
    kind: Kind = "normal"
    arguments: list[Argument] = field(default_factory=list)
    tokens: list[int] = field(default_factory=list)
    is_relative: bool = False


def predicates(words: Sequence[Word]) -> list[Predicate]:
    """Return the predicates of one sentence in its order, each with at least one argument.

    Args:
        words: A tree of Universal Dependencies, as `to_ud` returns it.
    """
    return _Extraction(words).run()


class _Extraction:
    """The predicates of one sentence while they are found."""

    def __init__(self, words: Sequence[Word]) -> None:
        self.words = words
        self.heads = [word.head - 1 for word in words]
        self.relations = [word.relation for word in words]
        self.children: list[list[int]] = [[] for _ in words]
        for number, head in enumerate(self.heads):
            if head >= 0:
                self.children[head].append(number)
        self.by_root: dict[int, Predicate] = {}
        self.events: list[Predicate] = []  # without the open complements

    def run(self) -> list[Predicate]:
        """Find the predicates step by step, in the order of the authors' program."""
        self.by_root = self._roots()
        for predicate in self.by_root.values():
            predicate.arguments = list(self._arguments(predicate))
        self.events = self._merge_complements()
        self._borrow_modified_nouns()
        self._borrow_from_conjuncts()
        self._borrow_for_adverbials("subject")
        self._borrow_for_adverbials("object")
        self._borrow_from_governors()
        expanded: list[Predicate] = []
        for predicate in self.events:
            predicate.arguments.sort(key=lambda argument: argument.root)
            self._collect_words(predicate)
            if predicate.tokens:
                expanded += self._expand(predicate)
        for predicate in expanded:
            self._finish(predicate)
        expanded.sort(key=lambda predicate: predicate.root)
        return [predicate for predicate in expanded if _is_complete(predicate)]

    def _children(self, word: int, *relations: str) -> list[int]:
        """Return the dependents of a word in one of these relations."""
        return [child for child in self.children[word] if self.relations[child] in relations]

    def _upos(self, word: int) -> str:
        return self.words[word].upos

    # --- which words are predicates ---

    def _roots(self) -> dict[int, Predicate]:
        """Return a predicate for each word that is one, in the order of the sentence.

        A clause has one, as has a word with a subject or an object of its own: "She sleeps". So do
        appositions, possessives and adjectives before a noun.
        """
        roots: dict[int, Predicate] = {}
        for word, head in enumerate(self.heads):
            if self._upos(word) == "PUNCT":
                continue
            kind = self._kind_of_modifier(word)
            if kind:
                roots.setdefault(word, Predicate(word, kind))
            if head < 0 or self.relations[head] == "dep":
                continue
            if self.relations[word] in CLAUSES:
                roots.setdefault(word, Predicate(word))
            if self._is_governed(word, head):
                roots.setdefault(head, Predicate(head))
        self._add_conjuncts(roots)
        return dict(sorted(roots.items()))

    def _add_conjuncts(self, roots: dict[int, Predicate]) -> None:
        """Add the verbs that are coordinated with a predicate."""
        waiting = list(roots)
        while waiting:
            first = waiting.pop()
            for other in self._children(first, "conj"):
                if self._upos(other) == "PUNCT":
                    continue
                if self._upos(first) == "VERB" != self._upos(other):
                    continue
                waiting.append(other)
                roots.setdefault(other, Predicate(other))

    def _kind_of_modifier(self, word: int) -> Kind | None:
        """Return the kind of a modifier that states something, None for all other words.

        "Nash, a mathematician" (appos), "her house" (poss), "a red house" (amod).
        """
        relation = self.relations[word]
        if relation == "appos":
            return "appos"
        if relation == "nmod:poss":
            return "poss"
        head = self.heads[word]
        if relation == "amod" and self._upos(word) == "ADJ" != self._upos(head):
            return "amod"
        return None

    def _is_governed(self, word: int, head: int) -> bool:
        """Return True if this dependent makes its head a predicate."""
        relation = self.relations[word]
        is_of_verb = self._upos(head) == "VERB" and relation in GOVERNED_BY_VERBS
        if not is_of_verb and relation not in GOVERNED:
            return False
        if relation == "ccomp" and self.relations[head] in NOUN_LIKE:
            return False  # "our hope that …"
        if self.relations[head] == "xcomp":
            return self.heads[head] >= 0 and not self._is_hard(self.heads[head])
        return not self._is_hard(head)

    def _is_hard(self, word: int) -> bool:
        """Return True for a modifier without arguments, such as "sleeping" in "a sleeping dog"."""
        has_argument = bool(self._children(word, *SUBJECTS, *OBJECTS))
        return not has_argument and self.relations[word] in HARD

    # --- their arguments ---

    def _arguments(self, predicate: Predicate) -> Iterator[Argument]:
        """Yield the arguments that depend on a predicate.

        They are subjects, objects, clauses and prepositional phrases, also those of an adverb:
        "according to the report". A modifier has its noun as well.
        """
        core = {"nsubj", "nsubj:pass"} | OBJECTS | CLAUSAL_OBJECTS
        for word in self.children[predicate.root]:
            relation = self.relations[word]
            is_nominal = relation.startswith(("nmod", "obl")) and predicate.kind != "amod"
            if relation in core or is_nominal:
                yield Argument(word)
        for adverb in self._children(predicate.root, "advmod"):
            for word in self.children[adverb]:
                if self.relations[word].startswith("nmod") or self.relations[word] == "obl":
                    yield Argument(word)
        if predicate.kind != "normal":
            yield Argument(self.heads[predicate.root])
        if predicate.kind == "poss":
            yield Argument(predicate.root)

    def _find(self, predicate: Predicate | None, relations: set[str]) -> Argument | None:
        """Return the first argument in one of these relations."""
        if predicate is None:
            return None
        return next((a for a in predicate.arguments if self.relations[a.root] in relations), None)

    def _has_subject(self, predicate: Predicate) -> bool:
        return self._find(predicate, SUBJECTS) is not None

    def _subject(self, *candidates: Predicate | None) -> Argument | None:
        """Return the first subject of these predicates."""
        for predicate in candidates:
            subject = self._find(predicate, SUBJECTS)
            if subject is not None:
                return subject
        return None

    def _governor(self, predicate: Predicate) -> Predicate | None:
        """Return the predicate that a predicate depends on directly."""
        return self.by_root.get(self.heads[predicate.root])

    def _top(self, predicate: Predicate) -> Predicate | None:
        """Return the predicate above the chain of open complements that governs this one.

        That of "win" in "She hopes to try to win" is "hopes".
        """
        head = self.heads[predicate.root]
        while head >= 0 and self.relations[head] == "xcomp" and head in self.by_root:
            head = self.heads[head]
        return self.by_root.get(head)

    def _merge_complements(self) -> list[Predicate]:
        """Give the arguments of open complements to the predicate above.

        "She hopes to win the prize" has one predicate, "hopes to win".

        Returns:
            The predicates that are no open complements.
        """
        events: list[Predicate] = []
        for predicate in self.by_root.values():
            top = self._top(predicate) if self.relations[predicate.root] == "xcomp" else None
            if top is None:
                events.append(predicate)
            else:
                top.arguments += predicate.arguments
        return events

    def _events(self, *relations: str) -> list[Predicate]:
        """Return the predicates whose roots are in one of these relations."""
        return [event for event in self.events if self.relations[event.root] in relations]

    def _borrow_modified_nouns(self) -> None:
        """Take the noun that a clause modifies: "the house that she built"."""
        for predicate in self._events(*ADNOMINAL):
            predicate.arguments.append(Argument(self.heads[predicate.root]))
            predicate.is_relative = True

    def _borrow_from_conjuncts(self) -> None:
        """Take the subject of the first verb: "She came and left"."""
        for predicate in self._events("conj"):
            first = self._governor(predicate)
            if first is None:
                continue
            if not self._has_subject(predicate):
                _borrow(predicate, self._subject(first, self._top(first)))
            if not predicate.arguments:
                _borrow(predicate, self._find(first, OBJECTS))

    def _borrow_for_adverbials(self, role: Literal["subject", "object"]) -> None:
        """Borrow the governor's subject, or its object after "from" and "for".

        "He kept him from leaving."
        """
        for predicate in self._events("advcl"):
            if self._has_subject(predicate):
                continue
            marks = {self.words[child].text for child in self._children(predicate.root, "mark")}
            borrows_object = bool(marks & {"from", "for"})
            if borrows_object == (role == "object"):
                relations = OBJECTS if borrows_object else SUBJECTS
                _borrow(predicate, self._find(self._governor(predicate), relations))

    def _borrow_from_governors(self) -> None:
        """Take the subject of the clause around: "She hopes to win"."""
        for predicate in self.events:
            governor = self._governor(predicate)
            if predicate.kind != "normal" or governor is None:
                continue
            if self.relations[predicate.root] in {*ADNOMINAL, "csubj", "csubj:pass"}:
                continue
            is_borrowing = any(argument.is_shared for argument in predicate.arguments)
            if not is_borrowing and not self._has_subject(predicate):
                _borrow(predicate, self._subject(governor, self._top(predicate)))

    # --- their words ---

    def _subtree(self, root: int, includes: Callable[[int, int], bool]) -> list[int]:
        """Return a word and those below it.

        Args:
            root: The word.
            includes: Takes a head and its dependent.
        """
        words: list[int] = []
        waiting = [root]
        while waiting:
            word = waiting.pop()
            words.append(word)
            waiting += [child for child in self.children[word] if includes(word, child)]
        return words

    def _collect_words(self, predicate: Predicate) -> None:
        """Give a predicate and its arguments their words.

        The second verb of "start firing and shooting" takes "start" as well.
        """
        if predicate.kind == "poss":
            predicate.tokens = [predicate.root]
        else:
            predicate.tokens = self._predicate_words(predicate)
        for argument in predicate.arguments:
            if not argument.is_shared and not argument.tokens:
                argument.tokens += self._argument_words(predicate, argument)
        if self.relations[predicate.root] == "conj":
            predicate.tokens += self._words_of_complement(predicate)

    def _predicate_words(self, predicate: Predicate) -> list[int]:
        """Return its own words and the prepositions of its arguments.

        "Depends on" of "It depends on the weather".
        """
        argument_roots = {argument.root for argument in predicate.arguments}
        event_roots = {event.root for event in self.events}

        def includes(head: int, word: int) -> bool:
            relation = self.relations[word]
            if word in argument_roots or relation in OUTSIDE_PREDICATE | ADNOMINAL:
                return False
            if relation != "amod" and word in event_roots:
                return False
            is_at_top = head == predicate.root or self.relations[head] == "xcomp"
            return not (is_at_top and relation in {"cc", "conj"})

        words = self._subtree(predicate.root, includes)
        is_modifier = self.relations[predicate.root] in MODIFIERS
        for argument in predicate.arguments:
            if is_modifier and self.heads[predicate.root] == argument.root:
                continue
            for preposition in self._children(argument.root, "case"):
                words += self._subtree(preposition, lambda head, word: True)
        return words

    def _argument_words(self, predicate: Predicate, argument: Argument) -> list[int]:
        """Return the words of an argument, without those of its predicate.

        Its preposition belongs to the predicate, and each conjunct is an argument by itself.
        """
        is_described = argument.root == self.heads[predicate.root]

        def includes(head: int, word: int) -> bool:
            relation = self.relations[word]
            if word in predicate.tokens or relation in {"dep", "appos"}:
                return False
            if head != argument.root:
                return True
            if is_described and relation in OUTSIDE_DESCRIBED:
                return False
            return relation not in {"case", "cc", "cc:preconj", "conj"}

        return self._subtree(argument.root, includes)

    def _words_of_complement(self, predicate: Predicate) -> list[int]:
        """Return "start" of "start firing and shooting", for the second verb."""
        head = self.heads[predicate.root]
        top = self._top(predicate)
        if head < 0 or self.relations[head] != "xcomp" or top is None:
            return []
        words: list[int] = []
        for word in top.tokens:
            is_adverb = self.heads[word] == head and self.relations[word] == "advmod"
            if word != head and not is_adverb and self.relations[word] != "case":
                words.append(word)
        return words

    def _expand(self, predicate: Predicate) -> list[Predicate]:
        """Return a predicate for each combination of coordinated arguments.

        "Ann and Ben bought tea and cake" has four.
        """
        if predicate.kind == "amod":
            predicate.arguments = [a for a in predicate.arguments if a.tokens]
            return [predicate] if predicate.arguments else []
        choices: list[list[Argument]] = []
        for argument in predicate.arguments:
            if not argument.is_shared:
                argument.tokens = self._strip(argument.tokens, is_argument=True)
            if argument.is_shared or argument.tokens:
                choices.insert(0, self._coordinated(predicate, argument))
        if not choices:
            return []
        expanded: list[Predicate] = []
        for chosen in product(*choices):
            copy = Predicate(predicate.root, predicate.kind)
            copy.arguments = [argument.reference() for argument in chosen]
            copy.tokens = predicate.tokens[:]
            copy.is_relative = predicate.is_relative
            expanded.append(copy)
        return expanded

    def _coordinated(self, predicate: Predicate, argument: Argument) -> list[Argument]:
        """Return an argument and those that are coordinated with it, in order."""
        group = [argument]
        if self.relations[argument.root] not in {"ccomp", "csubj"}:
            for conjunct in self._children(argument.root, "conj"):
                other = Argument(conjunct)
                other.tokens = self._argument_words(predicate, other)
                group.append(other)
        return sorted(group, key=lambda argument: argument.root)

    def _finish(self, predicate: Predicate) -> None:
        """Put words and arguments in order, without relative pronouns and marginal punctuation."""
        arguments: list[Argument] = []
        for argument in sorted(predicate.arguments, key=lambda argument: argument.root):
            text = " ".join(self.words[token].text for token in argument.tokens)
            if not (predicate.is_relative and text in RELATIVE_PRONOUNS):
                arguments.append(argument)
                argument.tokens = self._strip(argument.tokens, is_argument=True)
        predicate.arguments = arguments
        predicate.tokens = self._strip(predicate.tokens)

    def _strip(self, tokens: Sequence[int], is_argument: bool = False) -> list[int]:
        """Sort words, and drop what stands at their ends: marks, conjunctions and punctuation.

        Of doubled punctuation, one is kept.
        """
        words = sorted(tokens)
        while words and self.relations[words[0]] in TRIVIAL:
            is_mark = self.relations[words[0]] == "mark"
            if is_argument and is_mark and [self._upos(word) for word in words[1:2]] == ["VERB"]:
                break  # "to leave"
            words.pop(0)
        while words and self.relations[words[-1]] in TRIVIAL:
            words.pop()
        kept: list[int] = []
        for word in reversed(words):
            is_doubled = bool(kept) and self.relations[kept[-1]] == "punct"
            if self.relations[word] != "punct" or not is_doubled:
                kept.append(word)
        return kept[::-1]


def _borrow(predicate: Predicate, argument: Argument | None) -> None:
    """Add an argument of another predicate, if there is one."""
    if argument is not None:
        predicate.arguments.append(argument.reference())


def _is_complete(predicate: Predicate) -> bool:
    """Return True if everything has words, and a possessive has owner and thing."""
    if not predicate.tokens or not all(argument.tokens for argument in predicate.arguments):
        return False
    return len(predicate.arguments) >= (2 if predicate.kind == "poss" else 1)
