import subprocess
import sys
from pathlib import Path

import httpx2

from tests.serve import KEY
from tests.server.conftest import Server

ST = Path(sys.executable).with_name("st")


def test_every_endpoint_names_its_errors_and_its_key(server: Server) -> None:
    found = httpx2.get(f"{server.url}/openapi.json").json()
    scheme = found["components"]["securitySchemes"]["HTTPBearer"]
    assert (scheme["type"], scheme["scheme"]) == ("http", "bearer")
    for path, methods in found["paths"].items():
        for endpoint in methods.values():
            assert path == "/health" or endpoint["security"] == [{"HTTPBearer": []}]
            assert {"400", "401", "404", "413", "422", "429"} <= set(endpoint["responses"])
    streamed = found["paths"]["/analyze"]["post"]["responses"]["200"]["content"]
    assert list(streamed) == ["application/x-ndjson"]


def test_what_the_server_does_is_what_openapi_says(server: Server, tmp_path: Path) -> None:
    command = [
        *(
            ST,
            "run",
            f"{server.url}/openapi.json",
            "--header",
            f"Authorization: Bearer {KEY}",
            "--seed",
            "1",
        ),
        *(
            "--phases",
            "coverage,fuzzing",
            "--max-examples",
            "10",
            "--request-timeout",
            "30",
            "--no-color",
        ),
        # a text of the right form may still be empty, too long, or name no setting
        *("--exclude-checks", "positive_data_acceptance"),
    ]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout
    assert "4 selected / 4 total" in done.stdout
