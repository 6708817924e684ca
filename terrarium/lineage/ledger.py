"""The cost ledger: what the names of costs mean, how they add up, and what they are in money.

| name | what is counted |
|---|---|
| `searches`, `visits` | tool calls, and searches of the web that a round made |
| `pages_fetched`, `bytes` | answers of the web, and their size as it came |
| `tokens_in/<model>` | tokens a model read, as an API counts them: every turn reads all that stands before it |
| `tokens_out/<model>` | tokens it wrote |
| `tokens_trained/<model>` | tokens that passed through a training step, each time counted |
| `cpu_seconds` | of the child process and those it started |
| `gpu_seconds` | seconds for which GPUs were held, times their number |
| `work_seconds`, `wall_seconds` | in the work itself, and with starting its process and waiting for a device |
| `peak_memory_bytes` | the most one process held; a sum takes the largest |

A step's other names (`rollout_seconds`, `sampling_seconds`, `training_seconds`) are shares of these and are not added up.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from terrarium.agent.rollout import Rollout
from terrarium.errors import TerrariumError
from terrarium.evaluation.cost import live_cost

SUMMED = ("searches", "visits", "pages_fetched", "bytes", "cpu_seconds", "gpu_seconds", "work_seconds", "wall_seconds")
TOKENS = ("tokens_in", "tokens_out", "tokens_trained")
LARGEST = ("peak_memory_bytes",)
# What artifacts from before the ledger called the same counts.
FORMER = {"tokens_sampled": "tokens_out/unnamed", "sampled_tokens": "tokens_out/unnamed", "tokens": "tokens_trained/unnamed"}


class Prices(BaseModel):
    """A price file: US dollars. `read_per_1000` is for pages; any other `<provider>_per_1000` is for a provider's searches."""

    model_config = ConfigDict(extra="allow", frozen=True)
    __pydantic_extra__: dict[str, Annotated[float, Field(ge=0)]]
    read_per_1000: float = Field(default=0.0, ge=0)
    cpu_hour: float = Field(default=0.0, ge=0, description="of one core")
    gpu_hour: float = Field(default=0.0, ge=0)
    tokens_in_per_million: float = Field(default=0.0, ge=0)
    tokens_out_per_million: float = Field(default=0.0, ge=0)

    @model_validator(mode="after")
    def _known(self) -> Prices:
        for name in self.__pydantic_extra__:
            if not name.endswith("_per_1000"):
                raise ValueError(f"{name} is no price; a provider's searches are <provider>_per_1000")
        return self

    @classmethod
    def read(cls, path: Path) -> Prices:
        """The prices of a YAML file.

        Raises:
            TerrariumError: it is missing, no YAML, or holds a key or value that is none.
        """
        try:
            return cls.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")) or {})
        except OSError as error:
            raise TerrariumError(f"The price file {path} cannot be read ({error.strerror}); name another.") from error
        except yaml.YAMLError as error:
            raise TerrariumError(f"The price file {path} is no YAML ({' '.join(str(error).split())}); mend that place.") from error
        except ValidationError as error:
            first = error.errors()[0]
            raise TerrariumError(f"The price file {path} is not valid: {'.'.join(map(str, first['loc'])) or 'the whole'}: {first['msg']}.") from error


def named(costs: Mapping[str, float]) -> dict[str, float]:
    """Costs under the ledger's names alone."""
    result: dict[str, float] = {}
    for name, value in costs.items():
        name = FORMER.get(name, name)
        if name in SUMMED or name in LARGEST or name.split("/")[0] in TOKENS:
            result[name] = result.get(name, 0.0) + value
    return result


def total(costs: Iterable[Mapping[str, float]]) -> dict[str, float]:
    """The sum of several costs; of memory the largest. Names without a value are left out."""
    result: dict[str, float] = {}
    for one in costs:
        for name, value in named(one).items():
            result[name] = max(result.get(name, 0.0), value) if name in LARGEST else result.get(name, 0.0) + value
    return dict(sorted(result.items()))


def money(costs: Mapping[str, float], prices: Prices) -> dict[str, float]:
    """US dollars by provider of searches, reading, computing and tokens included; `own` alone where no provider has a price."""
    seconds = costs.get("cpu_seconds", 0.0) * prices.cpu_hour + costs.get("gpu_seconds", 0.0) * prices.gpu_hour
    read = sum(value for name, value in costs.items() if name.startswith("tokens_in/")) * prices.tokens_in_per_million
    written = sum(value for name, value in costs.items() if name.startswith("tokens_out/")) * prices.tokens_out_per_million
    own = seconds / 3600 + (read + written) / 1e6
    live = {name: value for name, value in prices.model_dump().items() if name.endswith("_per_1000")}
    bills = live_cost(int(costs.get("searches", 0)), int(costs.get("visits", 0)), live)
    return {name: round(bill + own, 6) for name, bill in bills.items()} or {"own": round(own, 6)}


def rollout_costs(rollouts: Iterable[Rollout], model: str | None = None) -> dict[str, float]:
    """Tool calls, and tokens by model (each rollout's policy where no `model` is named)."""
    costs: dict[str, float] = {"searches": 0.0, "visits": 0.0}
    for rollout in rollouts:
        costs["searches"] += rollout.searches
        costs["visits"] += rollout.visits
        name = model or rollout.policy
        read, written = f"tokens_in/{name}", f"tokens_out/{name}"
        costs[read] = costs.get(read, 0.0) + sum(turn.start for turn in rollout.turns)
        costs[written] = costs.get(written, 0.0) + sum(rollout.loss_mask)
    return costs
