"""The two kinds of failure that people and programs must be able to tell apart."""


class TerrariumError(Exception):
    """Something a person must mend. The message is one sentence: what went wrong, where, what to do."""


class Outage(TerrariumError):
    """A service did not answer. The work is undecided and is tried again; it is never an empty result or a wrong answer."""
