"""What assets need from outside: the artifact store, child processes, device leases, the practice web, profiles.

No craft lives here (that is `terrarium`), and no asset. `profiles.py` alone chooses implementations and sizes.
"""
