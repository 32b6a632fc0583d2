"""AIS, attributable to identified sources (R23): people judge in two stages whether a source supports an answer.

`tasks` what is judged, `queues` by whom and in which order, `judgements` the answers, `project` all of it in the
database, `exchange` in files; `agreement` and `figures` what came of it, `models` verifiers on the same tasks.
"""
