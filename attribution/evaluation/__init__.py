"""Measurements made with the pipeline: segmenters compared, retrieval grids, tables."""
