"""Chaos: the whole lineage, hurt at a random moment, started again until it finishes, and compared with a run that nobody disturbed.

`python -m tests.chaos --rounds 2 --seed 1` (or `make chaos ROUNDS=2 SEED=1`). A round is a function of its seed and of how fast the machine is.
"""
