"""compose.yaml says what docs/api.md promises; no container runtime is needed to read it."""

from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parent.parent


def services() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))[
        "services"
    ]
    return found


def test_app_and_api_share_one_database_and_wait_for_it() -> None:
    made = services()
    assert set(made) == {"database", "app", "api"}
    for name in ("app", "api"):
        address = made[name]["environment"]["ATTRIBUTION_DATABASE_URL"]
        assert address.startswith("postgresql+psycopg://") and "@database/" in address
        assert made[name]["depends_on"]["database"]["condition"] == "service_healthy"
        assert (ROOT / made[name]["build"] / "Dockerfile").is_file()
    assert "--api" in made["api"]["command"]


def test_no_port_is_open_to_the_network_and_no_secret_has_a_default() -> None:
    for service in services().values():
        assert all(str(port).startswith("127.0.0.1:") for port in service.get("ports", ()))
    text = (ROOT / "compose.yaml").read_text(encoding="utf-8")
    assert "${POSTGRES_PASSWORD:?" in text and "${ATTRIBUTION_API_KEYS:?" in text
    assert ":-" not in text.split("services:")[1]
