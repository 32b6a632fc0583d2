# `make run` and `make test` need Python 3.11, 3.12 or 3.13 and a package index, nothing else.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
DATA ?= data
FIGURES := docs/figures
# Exactly the files that the lock files name, without torch's own tests and its C++ headers and compiler (200 MB). By uv,
# which takes less than half of pip's time, and by pip where uv cannot be had or knows less of the package index.
OPTIONS := --quiet --no-deps --require-hashes
PIP := $(BIN)/python -m pip install --disable-pip-version-check
UV_INSTALL := $(BIN)/uv pip install --no-cache --python $(BIN)/python $${PIP_FIND_LINKS:+--find-links "$$PIP_FIND_LINKS"}
INSTALL := install() { $(UV_INSTALL) $(OPTIONS) -r $$1 2>/dev/null || $(PIP) $(OPTIONS) -r $$1; }; install
# by a name of its own: `make -n` runs every line that names MAKE
CALIBRATE = $(MAKE) calibrate
UV ?= $(BIN)/uv
COMPILE := $(UV) pip compile --quiet --python-version 3.11 --universal --generate-hashes --no-annotate --no-header --no-emit-index-url
IS_TORCH := /^[a-z]/ { torch = /^(torch=|nvidia|cuda|triton)/ }

.PHONY: run test check bench hub-check calibrate screenshots wheel docs audit sbom lock clean

# MODEL=deberta downloads a verifier first; if that fails, the best one that is installed is used
run: $(VENV)/.run
	$(if $(MODEL),@$(BIN)/python -m attribution download $(MODEL) || echo "Starting without $(MODEL). To try again: make run MODEL=$(MODEL)")
	@$(BIN)/python -m attribution serve $(if $(PORT),--port $(PORT))

# uv compiles nothing: Python does at the first import, and keeps it if it may.
test: $(VENV)/.dev
	env -u PYTHONDONTWRITEBYTECODE $(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder --durations=20

check: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/hadolint Dockerfile

# The slow tests, then the benchmarks. DATA is the folder of the evaluation sets (eval/, nli/).
bench: $(VENV)/.dev
	$(BIN)/python -m pytest -m slow
	$(BIN)/python -m benchmarks.pipeline --runs 3 --growth 100 $(if $(wildcard $(DATA)/eval),--documents $(DATA)) --out $(FIGURES)/speed_pipeline.json
	$(BIN)/python -m benchmarks.soak --floors --out $(FIGURES)/soak.json
	@if [ -d "$(DATA)/eval" ]; then \
	  $(BIN)/python -m benchmarks.verdicts $(DATA) --out $(FIGURES)/verdicts.json && \
	  $(CALIBRATE) && \
	  $(BIN)/python -m benchmarks.segmenters $(DATA) --segmenter clauses; \
	else echo "no evaluation sets in $(DATA): make bench DATA=FOLDER measures the verifiers too"; fi
	$(BIN)/python -m benchmarks.floors

# The published models of the groundedness methods, where the hub can be reached.
hub-check: $(VENV)/.dev
	$(BIN)/python -m benchmarks.hub_check

# How sure the badges of the embedded verifiers are; needed anew for each version of them.
calibrate: $(VENV)/.dev
	rm -rf build/judged && mkdir -p build/judged attribution/verifiers/data
	$(BIN)/python -m benchmarks.verdicts $(DATA) --sets all --held-out --limit 200 --judged build/judged
	for name in embedded-base embedded-small; do \
	  $(BIN)/python -m attribution calibrate --input build/judged/$$name.jsonl --output attribution/verifiers/data/$$name.json || exit 1; \
	done

screenshots: $(VENV)/.dev
	$(BIN)/python -m docs.screenshots $(SHOTS)

wheel: $(VENV)/.dev
	$(BIN)/python -m hatchling build --target wheel --directory build/dist

# The site of docs/, in build/site; a warning is an error.
docs: export NO_MKDOCS_2_WARNING = 1
docs: $(VENV)/.dev
	$(BIN)/mkdocs build --strict --quiet

# Known vulnerabilities of every package of the lock files, by the advisories of the Python Package Index.
audit: $(VENV)/.run
	$(UV) tool run pip-audit==2.10.1 --strict --disable-pip --require-hashes \
	  $(foreach lock,requirements-dev.lock requirements-torch.lock requirements-base.lock requirements-uv.lock,-r $(lock))

# Every package of the lock files, with its hashes, as CycloneDX.
sbom: $(VENV)/.dev
	@mkdir -p build
	cat requirements.lock requirements-torch.lock requirements-base.lock | \
	  $(BIN)/cyclonedx-py requirements - --pyproject pyproject.toml --output-file build/sbom.json

$(VENV)/.run: requirements-uv.lock requirements.lock requirements-torch-cpu.lock requirements-torch.lock requirements-base.lock
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(PIP) $(OPTIONS) -r requirements-uv.lock || echo "uv could not be installed; pip takes longer."
	@$(INSTALL) requirements.lock
	@$(INSTALL) requirements-torch-cpu.lock 2>/dev/null || { \
	  echo "The package index has no torch without CUDA: its own torch is installed, which may be large."; \
	  $(INSTALL) requirements-torch.lock; }
	@for torch in $(VENV)/lib/python*/site-packages/torch; do rm -rf $$torch/test $$torch/include $$torch/bin/test_* $$torch/bin/protoc*; done
	@$(INSTALL) requirements-base.lock || \
	  echo "The base verifier could not be installed; the small one is used. Later: make clean run"
	@touch $@

$(VENV)/.dev: $(VENV)/.run requirements-dev.lock
	@$(INSTALL) requirements-dev.lock
	@touch $@

# What requirements*.txt do not pin gets its newest version.
lock: $(VENV)/.run
	@mkdir -p build
	$(COMPILE) requirements-dev.txt > build/dev.lock
	$(COMPILE) requirements.txt --constraint build/dev.lock > build/run.lock
	awk '$(IS_TORCH) !torch' build/dev.lock > requirements-dev.lock
	awk '$(IS_TORCH) !torch' build/run.lock > requirements.lock
	awk '$(IS_TORCH) torch' build/run.lock > requirements-torch.lock
	$(COMPILE) --no-deps requirements-base.txt > requirements-base.lock
	echo uv | $(COMPILE) - > requirements-uv.lock

clean:
	rm -rf $(VENV) build .pytest_cache .mypy_cache .ruff_cache
