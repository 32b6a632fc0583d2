"""A door for programs: REST over HTTP, and an MCP server. See docs/api.md."""
