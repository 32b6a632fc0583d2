"""The project's one database."""
