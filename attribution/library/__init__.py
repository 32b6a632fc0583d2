"""The built-in library and the users' collections of documents."""
