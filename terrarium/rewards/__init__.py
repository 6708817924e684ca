"""Rewards: is an answer right, and by what method was that decided."""

from terrarium.rewards.grading import Grade, grade

__all__ = ["Grade", "grade"]
