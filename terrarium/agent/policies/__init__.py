"""Policies: what can take the next turn of a rollout. Importing them loads no model library."""

from terrarium.agent.policies.base import Policy, Request, Sample, Sampling
from terrarium.agent.policies.in_process import TransformersPolicy
from terrarium.agent.policies.scripted import Conversation, ScriptedPolicy

__all__ = ["Conversation", "Policy", "Request", "Sample", "Sampling", "ScriptedPolicy", "TransformersPolicy"]
