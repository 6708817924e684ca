"""How the open web is asked: through which proxy, how politely, how long, how much of it."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class WebSettings(BaseModel):
    """Manners and limits of fetching. Every size that stops a page stops that page alone, with a reason."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    proxy: str | None = Field(default=None, pattern=r"^https?://", description="one HTTP proxy for everything; None follows the environment")
    user_agent: str = "terrarium/0.1 (research crawler)"
    obey_robots: bool = True
    concurrency: int = Field(default=16, ge=1, le=512, description="requests under way at once, over all hosts")
    concurrency_per_host: int = Field(default=4, ge=1, le=64)
    delay_seconds: float = Field(default=0.0, ge=0, le=60, description="between two requests to one host")
    timeout_seconds: float = Field(default=20.0, gt=0, le=600)
    retries: int = Field(default=2, ge=0, le=10)
    max_redirects: int = Field(default=8, ge=0, le=30)
    max_bytes: int = Field(default=10_000_000, ge=1_000, description="a larger page is refused while it is loading")
    give_up_after: int = Field(default=3, ge=1, description="failures of one host in a row, retries included, after which it is left alone")


class Limits(BaseModel):
    """How much a round may grow."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    pages: int | None = Field(default=None, ge=1, description="pages fetched in a round; None = all")
    pages_per_source: int | None = Field(default=None, ge=1)
    least_characters: int = Field(default=0, ge=0, description="a shorter page is dropped; 1,000 at scale")
