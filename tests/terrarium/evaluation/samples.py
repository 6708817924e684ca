"""Small rollouts and questions for the tests of evaluation."""

from terrarium.agent.rollout import Rollout, RolloutTurn, Termination, ToolCall
from terrarium.questions.question import Question, Span


def rollout(question_id: str, correct: bool | None, termination: Termination = Termination.ANSWERED, policy: str = "sft", **more: object) -> Rollout:
    turn = RolloutTurn(
        text="t",
        thought="<b>look</b>",
        calls=(ToolCall("search", {"query": ["x"]}),),
        observation="<script>x</script>",
        malformed=None,
        start=1,
        end=2,
    )
    answer = "a" if termination is Termination.ANSWERED else None
    fields = {"searches": 1, "visits": 1, "sampling": {"temperature": 1.0}, "answer": answer, **more}
    return Rollout(
        rollout_id=f"{policy}-{question_id}-{correct}",
        question_id=question_id,
        policy=policy,
        recipe="grpo-s1",
        stage=0,
        snapshot="s",
        messages=({"role": "user", "content": "q"},),
        turns=(turn,),
        token_ids=(1, 2, 3),
        loss_mask=(0, 1, 1),
        logprobs=(0.0, -0.1, -0.2),
        termination=termination,
        correct=correct,
        **fields,  # type: ignore[arg-type]
    )


def question(question_id: str, capability: str = "direct", split: str = "test", wording: str = "w1") -> Question:
    return Question(
        question_id=question_id,
        question=f"What of {question_id}?",
        answers=("a",),
        answer_kind="single",
        capability=capability,  # type: ignore[arg-type]
        hops=1,
        source_page_ids=("p",),
        evidence=(Span("p", 0, 1, "a"),),
        split=split,
        wording=wording,
    )
