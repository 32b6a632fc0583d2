"""What researchers measure with the pipeline; everything here stands above it."""
