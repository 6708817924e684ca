"""Where things come from: every input of a checkpoint by its hash, and what befell a question, a page, a rollout."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from resources.artifacts import ArtifactStore
from resources.manifest import Artifact
from terrarium.__main__ import main
from terrarium.errors import TerrariumError
from terrarium.job import Outcome
from terrarium.lineage.archive import Archive
from terrarium.lineage.content import data_version_of
from terrarium.lineage.explanation import Explanation
from terrarium.lineage.find import explain
from terrarium.lineage.tell import CHARACTERS, short

PAGE, COPY, OTHER = "page00000000aaaa", "page00000000bbbb", "page00000000cccc"
KEPT, DROPPED = "question0000aaaa", "question0000bbbb"
TRAINED, TRIED, SHOWN = "rollout00000aaaa", "rollout00000bbbb", "rollout00000cccc"
Made = dict[str, Artifact]


def happened(found: Explanation) -> set[tuple[str, str]]:
    return {(event.asset, event.what) for event in found.events}


def test_every_input_of_a_checkpoint_is_recovered_by_its_hash(made: Made, tmp_path: Path) -> None:
    found = explain(Archive(tmp_path), "stage_1/checkpoint grpo-s1", verify=True)
    assert {above.asset for above in found.lineage} == set(made)
    for above in found.lineage:
        volatile = ("places.json",) if above.asset == "world" else ()
        assert data_version_of(tmp_path / above.path, above.fingerprint, volatile) == above.data_version
        assert above.verified is True
        assert above.data_version == made[above.asset].data_version
        for parent in above.parents:
            assert made[parent.asset].data_version == parent.data_version
    assert found.lost == []
    assert found.facts["worlds"][0]["snapshot"] == "snap01"
    assert found.facts["removed_sources"][0]["pages"] == {"source": 1, "near_duplicate": 1}
    assert {judge["asset"] for judge in found.facts["judges"]} == {"stage_1/checkpoint", "stage_1/policy_rollouts", "teacher_trajectories"}
    assert found.facts["trained_on"]["question_ids"] == [KEPT]
    assert found.facts["versions"]["python"] and found.facts["versions"]["pyarrow"]
    assert ("stage_1/checkpoint", "gate steps_done: passed") in happened(found)


def test_what_changed_since_is_told(made: Made, tmp_path: Path) -> None:
    pq.write_table(pa.table({"page_id": ["x"]}), made["removed_sources"].file("removed.parquet"))
    found = explain(Archive(tmp_path), "stage_1/checkpoint", verify=True)
    assert {above.asset for above in found.lineage if not above.verified} == {"removed_sources"}
    made["curated_trajectories"].file("manifest.json").unlink()
    assert [parent.asset for parent in explain(Archive(tmp_path), "stage_1/checkpoint").lost] == ["curated_trajectories"]


@pytest.mark.parametrize("name", ["stage_1/checkpoint", "fingerprint", "data_version", "path", "file"])
def test_an_artifact_has_many_names(made: Made, tmp_path: Path, name: str) -> None:
    artifact = made["stage_1/checkpoint"]
    names = {"fingerprint": artifact.manifest.fingerprint, "data_version": artifact.data_version, "path": str(artifact.path)}
    names["file"] = str(artifact.file("rollouts.parquet"))
    assert explain(Archive(tmp_path), names.get(name, name)).id == artifact.manifest.fingerprint


def test_a_question_tells_page_gates_world_and_what_learnt_from_it(made: Made, tmp_path: Path) -> None:
    found = explain(Archive(tmp_path), KEPT)
    assert found.kind == "question"
    assert found.facts["evidence"][0] | {"url": None} == {"page_id": PAGE, "start": 3, "end": 9, "text": "a span", "url": None}
    assert found.facts["evidence"][0]["url"] == "https://town.example/a"
    assert [span["url"] for span in found.facts["support"]] == ["https://o.example/"]
    assert {row["page_id"] for row in found.facts["removed"]} == {PAGE, COPY}
    assert happened(found) >= {
        ("screened_questions", "passed the screen"),
        ("teacher_trajectories", "tried by scripted teacher"),
        ("stage_1/questions", "kept by the filter"),
        ("sft_checkpoint", "trained on it"),
        ("stage_1/checkpoint", "trained on it"),
    }
    tried = next(event for event in found.events if event.what == "tried by start-of-stage-1")
    assert "1 right, 1 wrong" in tried.detail and TRIED in tried.detail


def test_a_dropped_question_tells_where_and_why(made: Made, tmp_path: Path) -> None:
    found = explain(Archive(tmp_path), DROPPED)
    assert found.facts["dropped"] == "screened_questions: answered by a web snippet"
    assert ("screened_questions", "dropped at snippets") in happened(found)
    assert not any(event.what == "trained on it" for event in found.events)


@pytest.mark.parametrize("name", [PAGE, "https://town.example/a", "http://town.example/a?from=search"])
def test_a_page_tells_round_copies_removal_and_questions(made: Made, tmp_path: Path, name: str) -> None:
    found = explain(Archive(tmp_path), name)
    assert (found.kind, found.id, found.facts["round"]) == ("page", PAGE, "round_001")
    assert [copy["page_id"] for copy in found.facts["copies"]] == [COPY]
    assert [(row["why"], row["because_of"]) for row in found.facts["removed"]] == [("source", KEPT)]
    assert [(place["snapshot"], place["page"]) for place in found.facts["snapshots"]] == [("snap01", "removed")]
    assert [row["question_id"] for row in found.facts["asked_from"]] == [KEPT, DROPPED]
    support = explain(Archive(tmp_path), OTHER)
    assert [row["question_id"] for row in support.facts["supports"]] == [KEPT]
    assert support.facts["snapshots"][0]["page"] == "there"


def test_a_rollout_tells_policy_world_grade_and_use(made: Made, tmp_path: Path) -> None:
    archive = Archive(tmp_path)
    trained = explain(archive, TRAINED)
    assert trained.facts["snapshot"] == "snap01" and trained.facts["judge"] == "exact" and trained.facts["sampling"] == {"temperature": 1.0}
    assert made["sft_checkpoint"].data_version in trained.facts["policy_from"][0]
    assert ("stage_1/checkpoint", "trained on it") in happened(trained)
    assert ("stage_1/questions", "kept its question") in happened(explain(archive, TRIED))
    assert ("sft_checkpoint", "trained on it") in happened(explain(archive, SHOWN))


def test_an_unknown_name_gets_one_sentence_with_what_is_near(made: Made, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(TerrariumError, match=f"nearest are {KEPT}"):
        explain(Archive(tmp_path), "question0000aaab")
    assert main(["explain", "stage_1/checkpont", "--state", str(tmp_path)]) == 1
    said = capsys.readouterr().err
    assert "stage_1/checkpoint grpo-s1" in said and len(said.splitlines()) == 1
    with pytest.raises(TerrariumError, match="holds no artifacts"):
        Archive(tmp_path / "elsewhere")


@pytest.mark.parametrize("subject", ["stage_1/checkpoint", KEPT, PAGE, TRAINED])
def test_text_and_json(made: Made, tmp_path: Path, capsys: pytest.CaptureFixture[str], subject: str) -> None:
    assert main(["explain", subject, "--state", str(tmp_path), "--json"]) == 0
    found = Explanation.model_validate(json.loads(capsys.readouterr().out))
    assert main(["explain", subject, "--state", str(tmp_path)]) == 0
    text = capsys.readouterr().out
    assert found.id in text and all(above.data_version in text for above in found.lineage)


def test_the_command_loads_neither_dagster_nor_a_model_library(made: Made, tmp_path: Path) -> None:
    code = "import sys; from terrarium.__main__ import main; main(['explain', 'world']); print({'dagster', 'torch', 'resources'} & set(sys.modules))"
    environment = {**os.environ, "TERRARIUM_STATE": str(tmp_path), "PYTHONPATH": str(Path(__file__).parents[3])}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.splitlines()[-1] == "set()"


def test_the_short_descent_is_capped(made: Made, tmp_path: Path) -> None:
    archive = Archive(tmp_path)
    record = archive.record(made["stage_1/checkpoint"].path.relative_to(tmp_path).as_posix())
    assert record is not None
    text = short(archive, record)
    assert "`seed_pages`" in text and len(text) <= CHARACTERS
    many = [parent for parent in record.manifest.parents for _ in range(60)]
    long = record.manifest.model_copy(update={"parents": many})
    object.__setattr__(record, "manifest", long)
    assert len(short(archive, record)) <= CHARACTERS


def test_costs_of_a_descent_count_each_artifact_once(made: Made, tmp_path: Path) -> None:
    found = explain(Archive(tmp_path), "stage_1/checkpoint")
    assert found.costs.own["searches"] == 1 and found.costs.own["tokens_out/stage-1"] == 5
    assert found.costs.descent["cpu_seconds"] == 2.0 * len(made)
    assert (found.costs.descent["searches"], found.costs.descent["visits"], found.costs.descent["bytes"]) == (4, 2, 10)
    assert found.costs.live_usd == pytest.approx({"serper": 0.005, "serpapi": 0.021})


def test_what_one_step_made_together_is_paid_once(tmp_path: Path) -> None:
    store = ArtifactStore(root=str(tmp_path))
    both = store.make_together(["page_store", "search_index"], None, [], {}, "1", lambda outs: Outcome(costs={"cpu_seconds": 2.0}))
    store.make("world", None, list(both.values()), {}, "1", lambda out: Outcome(costs={"cpu_seconds": 1.0}))
    assert explain(Archive(tmp_path), "world").costs.descent["cpu_seconds"] == 3.0
