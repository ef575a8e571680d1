#!/usr/bin/env bash
# Write requirements/*.txt anew from pyproject.toml: every version pinned, every file hashed, no index named.
# Extra arguments go to uv, for example: packaging/lock.sh --upgrade-package textual
#
# The order matters: each lock takes the versions of the one before it, so that all fit into one environment.
set -euo pipefail
cd "$(dirname "$0")/.."

if ! command -v uv >/dev/null; then
    echo "packaging/lock.sh needs uv on the PATH (pip install uv, outside of .venv)" >&2
    exit 1
fi

compile() {
    # Settings of this machine (a configuration file, extra indexes) must leave no trace in a lock.
    env -u UV_EXTRA_INDEX_URL -u UV_FIND_LINKS -u UV_CONSTRAINT -u UV_OVERRIDE \
        uv pip compile --quiet --no-config --universal --python-version 3.11 --generate-hashes \
        --no-emit-index-url --no-emit-find-links --no-annotate --no-header "$@"
}

compile pyproject.toml --output-file requirements/run.txt "$@"
compile pyproject.toml --group dev --constraints requirements/run.txt --output-file requirements/dev.txt "$@"
compile --group build --constraints requirements/dev.txt --output-file requirements/build.txt "$@"

if grep -nE '://|/(home|root|opt|tmp|work)/|^-' requirements/*.txt; then
    echo "a lock names an address or a path of this machine (lines above)" >&2
    exit 1
fi
grep -cE '^[A-Za-z0-9]' requirements/*.txt
