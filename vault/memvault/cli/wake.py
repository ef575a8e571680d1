"""`python -P -m memvault.cli.wake --home DIR`: see that a daemon runs; for programs that only pass bytes.

Says on standard output, as a JSON-RPC error, why there is none. Not a command of its own.
"""

from __future__ import annotations

import sys

from memvault.client import Client
from memvault.errors import MemvaultError
from memvault.paths import home_dir
from memvault.rpc import framing


def main(home: str) -> int:
    try:
        with Client(home_dir(home), name="wake") as client:
            client.connect()
    except MemvaultError as error:
        sys.stdout.buffer.write(framing.encode({"error": framing.error_body(error)}))
        return error.exit_status
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[2]))
