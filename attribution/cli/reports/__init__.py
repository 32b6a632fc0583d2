"""Commands on a finished run: `export` and `citations`."""

from __future__ import annotations

from pathlib import Path

from attribution.errors import BadInput
from attribution.exports import Exported
from attribution.settings import Settings


def finished_run(subject: str) -> Exported:
    """The run of a report file, or the saved one with that id. BadInput where there is neither."""
    from attribution.exports import report_json
    from attribution.storage.store import Store

    path = Path(subject)
    if path.is_file():
        try:
            return report_json.read(path.read_bytes())
        except BadInput as error:
            raise BadInput(f"{path}: {error}") from None
    store = Store.open(Settings.from_environment().database_url)
    if (report := store.load_run(subject)) is None:
        raise BadInput(f"{subject}: neither a report file nor the id of a saved run; expected one of both")
    about = store.description(subject)
    corrected = frozenset(v.claim_id for v in store.versions(subject) if v.claim_id)
    return Exported(report, about.title, about.note, corrected)
