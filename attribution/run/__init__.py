"""Run the pipeline, edit its runs, and run it over many answers."""
