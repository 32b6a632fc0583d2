"""The sources as CSL-JSON, which Zotero, Pandoc and other reference managers import."""

from __future__ import annotations

import json

from attribution.exports import Exported
from attribution.exports.sources import references
from attribution.types import BUILT_IN_LICENCE


def write(exported: Exported) -> str:
    """A list of items, one for each source."""
    items = []
    for source in references(exported.report):
        fields = {
            "id": source.key,
            "type": "webpage" if source.url else "document",
            "title": source.title,
            "container-title": source.site,
            "URL": source.url,
            "issued": _parts(source.published),
            "accessed": _parts(source.accessed),
            "note": f"Facts after {source.facts_from}" if source.facts_from else "",
            "license": BUILT_IN_LICENCE if source.facts_from else "",
        }
        items.append({name: value for name, value in fields.items() if value})
    return json.dumps(items, ensure_ascii=False, indent=1) + "\n"


def _parts(date: str) -> dict[str, list[list[int]]]:
    return {"date-parts": [[int(part) for part in date.split("-")]]} if date else {}
