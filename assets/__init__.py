"""What exists: the assets of the lineage, one module a group.

An asset is a function from its inputs to a job (`step`); the job's work is a function of `terrarium`, done in a child process (`materialise`).
Nothing here computes, schedules or chooses sizes.
"""
