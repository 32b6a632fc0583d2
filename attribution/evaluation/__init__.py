"""Measures over runs and data sets; everything here stands above the pipeline."""
