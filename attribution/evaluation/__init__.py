"""What researchers measure with the pipeline: decompositions side by side, retrieval grids."""
