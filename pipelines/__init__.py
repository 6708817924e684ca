"""How work is launched: definitions, partitions, jobs, schedules, sensors, automation, policies, and the command behind `make run`.

What exists is in `assets`; what it needs from outside in `resources`.
"""
