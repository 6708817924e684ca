"""How an agent is run: the limits and the noise of a rollout. The numbers stand in profiles and recipes."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class AgentSettings(BaseModel):
    """Limits and sampling of one kind of rollout.

    `context_tokens` counts everything a rollout holds: prompt, turns and observations. `answer_tokens` of it are kept back, so that
    a rollout that runs into a limit can still be asked for its answer. `turns` counts the turns before that forced one.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    context_tokens: int = Field(ge=64, description="tokens a rollout may hold in all")
    turns: int = Field(ge=1, description="turns before the answer is forced")
    tokens_a_turn: int = Field(ge=8, description="tokens the policy may write in one turn")
    answer_tokens: int = Field(default=48, ge=8, description="tokens kept back for the forced answer")
    calls_a_turn: int = Field(default=4, ge=1, description="queries and URLs one turn may ask for, together")
    temperature: float = Field(default=1.0, ge=0.0, description="0 = always the likeliest token")
    top_p: float = Field(default=1.0, gt=0.0, le=1.0)
    time_limit_seconds: float | None = Field(default=None, gt=0.0, description="wall clock of one rollout; None where results must repeat exactly")
    search_k: int = Field(default=3, ge=1, description="hits a query")
    concurrency: int = Field(default=16, ge=1, description="rollouts that step together; part of what a repeat needs to be equal")
    system_prompt: str = Field(default="short", description="a file of terrarium/agent/prompts, without its ending")
