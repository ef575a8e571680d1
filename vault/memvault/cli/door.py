"""The console script. What agent hosts start goes straight to its own file; everything else to the commands.

Kept free of imports: a host waits for what comes after.
"""

from __future__ import annotations

import sys


def main() -> None:
    """`memvault`. Ends the process."""
    if sys.argv[1:2] == ["mcp"] and not {"--help", "-h", "--json"} & set(sys.argv):
        from memvault import mcp_pipe

        mcp_pipe.main(sys.argv[2:])
        return
    if sys.argv[1:2] == ["hook"] and not {"--help", "-h", "--json"} & set(sys.argv):
        from memvault import hook

        hook.main(sys.argv[2:])
        hook.end()
    from memvault.cli import entry

    entry.main()
