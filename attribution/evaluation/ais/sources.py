"""Tasks from finished runs, and a proposal for the explicature by the rules of enrichment."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from attribution.claims.conversation import standalone_question
from attribution.claims.enrichment import enrich
from attribution.claims.independence import check_independence
from attribution.evaluation.ais.tasks import Task, Turn, Unit, make_task, split_turns
from attribution.evidence.near_duplicates import deciding_evidence, group_evidence
from attribution.text.sentences import sentences
from attribution.types import Claim, Page, Report, content_id


def tasks_of_run(report: Report, project_id: str, unit: Unit, system: str = "", dataset: str = "") -> Iterator[Task]:
    """The answer, its sentences or its checked claims as tasks; the pages' texts must be there.

    The source of a claim is the page of its best evidence; that of a sentence or an answer is all such pages of its
    claims. Claims without evidence have no source to judge them by, and are left out.
    """
    pages = {page.id: page for page in report.pages if page.text}
    best: dict[str, Page] = {}
    for claim in report.claims:
        evidence = [e for e in report.evidence if e.claim_id == claim.id and e.page_id in pages]
        if claim.checked and evidence:
            piece = deciding_evidence(evidence, pages) or group_evidence(evidence, pages)[0].best
            best[claim.id] = pages[piece.page_id]
    said = [*report.context, *([("user", report.question)] if report.question.strip() else [])]
    question = [Turn(speaker="user" if speaker == "user" else "system", text=text) for speaker, text in said]
    within = [*question, Turn(speaker="system", text=report.answer)]
    groups: dict[str, list[Claim]] = {}
    for claim in report.claims:
        if claim.id in best:
            place = claim.sentence or (claim.spans[0] if claim.spans else None)
            whole = report.answer[slice(*place)] if place else claim.text
            text = {"claim": claim.text, "sentence": whole, "answer": report.answer}[unit]
            groups.setdefault(text, []).append(claim)
    for text, claims in groups.items():
        used = list({page.id: page for page in (best[claim.id] for claim in claims)}.values())
        yield make_task(
            project_id,
            text,
            _joined(used),
            question if unit == "answer" else within,
            unit=unit,
            time=report.created_at[:10],
            system=system,
            dataset=dataset,
            item=content_id(
                *(part for turn in report.context for part in turn), report.question, text if unit != "answer" else ""
            ),
            title="; ".join(page.cited for page in used),
            url=(used[0].reference or used[0].url) if len(used) == 1 else "",
        )


def _joined(pages: Sequence[Page]) -> str:
    if len(pages) == 1:
        return pages[0].text
    return "\n\n\n".join(f"{page.cited}\n{page.reference or page.url}\n\n{page.text}" for page in pages)


def explicature(task: Task) -> str:
    """The answer with its references replaced, by rules (V24, section 4.3); as it is where none is certain."""
    question, before = split_turns(task.turns)
    last = task.turns[-1].text if task.turns and task.turns[-1].speaker == "system" else ""
    whole = last if task.unit != "answer" and task.answer in last else task.answer
    offset = whole.index(task.answer)
    claims = [
        Claim(
            id=str(start), text=task.answer[start:end], spans=((offset + start, offset + end),), worthiness="factual"
        )
        for start, end in sentences(task.answer)
    ]  # fmt: skip
    text = task.answer
    enriched, _ = enrich(standalone_question(question, before), whole, check_independence(claims))
    for claim in reversed(enriched):
        start, end = int(claim.id), int(claim.id) + len(claim.text)
        text = text[:start] + claim.statement + text[end:]
    return text
