"""The answer's own citations: its marks, the sources they name, and whether these support the claims they stand on."""
