"""MCP as the daemon speaks it: tools, resources and a prompt over whatever a connection may call.

Loaded only when an agent needs it: `server` imports the SDK, which costs most of a second. The pipe that
hosts start is `memvault.mcp_pipe`.
"""
