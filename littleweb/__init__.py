"""A practice web: a small fictional country on several sites, a pure function of a seed, served over real HTTP on loopback.

Facts (`facts`, `country`, `tiny`) know no pages; `plan` says which pages exist; `compose` and `layout` write them; `web` answers requests; `server`
puts it on the network. No other part of the project imports this package or holds its vocabulary.
"""
