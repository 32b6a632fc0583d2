"""The pipeline against the plain recipe: the same claims, pages, models and settings, in turn in one run."""
