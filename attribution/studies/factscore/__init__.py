"""FActScore over any decomposer, verifier and knowledge source (Min et al. 2023; W24, section 5)."""
