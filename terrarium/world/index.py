"""The search index: one row a page in Milvus, with a dense vector and a sparse one. A Milvus Lite file or a server, same schema.

The sparse leg is BGE-M3's lexical weights where the embedder has them; otherwise Milvus' BM25 function over the page's words, in two
fields: one analysed for words, one for Chinese. Legs come back apart and exact in their order; fusing them is fusion.py's.
"""

from __future__ import annotations

import hashlib
import logging
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from terrarium.errors import Outage, TerrariumError
from terrarium.tables import stable_id
from terrarium.world.embed import refuse_unusable
from terrarium.world.fusion import Leg
from terrarium.world.milvus_lite_file import LiteFile, open_lite_file, quiet_pymilvus
from terrarium.world.words import han_of, without_han

if TYPE_CHECKING:
    import numpy as np

_log = logging.getLogger(__name__)
# Milvus' limits: bytes of a VARCHAR, rows of one search.
_MAX_TEXT = 60_000
_MAX_ROWS = 16_384
_WORDS = {
    "tokenizer": "standard",
    "filter": ["lowercase", "asciifolding", {"type": "stop", "stop_words": ["_english_"]}, {"type": "stemmer", "language": "english"}],
}
_CHINESE = {"tokenizer": "jieba", "filter": ["cnalphanumonly"]}
# More digits than any engine's float32 sums agree in.
_DIGITS = 5


class IndexSettings(BaseModel):
    """Where the index is and how it is built. `uri` None: a Milvus Lite file in the artifact."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    uri: str | None = Field(default=None, description="http(s)://host:port of a Milvus server")
    token_env: str | None = Field(default=None, description="environment variable that holds the server's token")
    dense: Literal["FLAT", "IVF_FLAT", "HNSW", "DISKANN"] = "FLAT"
    build_parameters: dict[str, int] = Field(default_factory=dict, description="of the dense index: nlist; M, efConstruction")
    search_parameters: dict[str, int] = Field(default_factory=dict, description="of the dense index: nprobe; ef; search_list")
    bm25_k1: float = Field(default=1.2, ge=0, le=3)
    bm25_b: float = Field(default=0.75, ge=0, le=1)
    candidates: int = Field(default=50, ge=1, le=1000, description="hits of each leg that are fused")
    rrf_k: int = Field(default=60, ge=1, description="Cormack, Clarke and Buettcher 2009")
    dense_weight: float = Field(default=1.0, gt=0, le=10, description="what a rank of the dense leg counts beside one of a sparse leg")
    lead_words: int = Field(default=100, ge=10, le=1000, description="how much of a page without a summary is indexed")
    bm25_reads: Literal["lead", "page"] = Field(default="page", description="Milvus' BM25 reads what the vectors are made of, or the whole page too")
    seconds: float = Field(default=30.0, gt=0, description="time-out of one request")

    def identity(self) -> dict[str, Any]:
        """What of these settings can change a result."""
        return self.model_dump(exclude={"uri", "token_env", "seconds"})


@dataclass(frozen=True, slots=True)
class IndexRow:
    """One page to index. `text` is what its dense vector was made of, `words` what BM25 reads (None: the same); `lexical` are BGE-M3's
    weights, or None."""

    page_id: str
    row_hash: str
    text: str
    dense: np.ndarray
    lexical: Mapping[int, float] | None = None
    words: str | None = None


class SearchIndex:
    """Rows of one build."""

    def __init__(self, client: Any, lite: LiteFile | None, collection: str, settings: IndexSettings, lexical: bool, place: str) -> None:
        self._client = client
        self._lite = lite
        self._collection = collection
        self._settings = settings
        self._lexical = lexical
        self._place = place

    @staticmethod
    def create(
        folder: Path, settings: IndexSettings, build: str, dimension: int, lexical: bool, say: Callable[[str], None] = _log.warning
    ) -> SearchIndex:
        """An index to write to. What is there already stays if it has the same schema, and is made anew otherwise."""
        index = SearchIndex._connect(folder, settings, build, lexical, say)
        schema = stable_id(str(sorted(settings.identity().items())), str(dimension), str(lexical), str(_WORDS), str(_CHINESE))
        try:
            if index._client.has_collection(index._collection):
                if index._client.describe_collection(index._collection).get("description") == schema:
                    index._client.load_collection(index._collection)
                    return index
                index._client.drop_collection(index._collection)
            index._make(dimension, schema)
        except BaseException:
            index.close()
            raise
        return index

    @staticmethod
    def open(folder: Path, settings: IndexSettings, build: str, lexical: bool, say: Callable[[str], None] = _log.warning) -> SearchIndex:
        """An index to search.

        Raises:
            TerrariumError: there is none.
        """
        index = SearchIndex._connect(folder, settings, build, lexical, say)
        try:
            if not index._client.has_collection(index._collection):
                raise TerrariumError(f"The search index at {index._place} holds no collection {index._collection}; materialise search_index again.")
            index._client.load_collection(index._collection)
        except BaseException:
            index.close()
            raise
        return index

    @staticmethod
    def _connect(folder: Path, settings: IndexSettings, build: str, lexical: bool, say: Callable[[str], None]) -> SearchIndex:
        if settings.uri is None:
            lite = open_lite_file(folder, say)
            return SearchIndex(lite.client, lite, "pages", settings, lexical, str(lite.path))
        from pymilvus import MilvusClient
        from pymilvus.exceptions import MilvusException

        quiet_pymilvus()
        token = os.environ.get(settings.token_env, "") if settings.token_env else ""
        try:
            client = MilvusClient(uri=settings.uri, token=token, timeout=settings.seconds)
        except MilvusException as error:
            raise Outage(f"The Milvus server at {settings.uri} did not answer ({str(error)[:150]}); start it and run the step again.") from error
        return SearchIndex(client, None, "terrarium_" + re.sub(r"\W", "_", build), settings, lexical, settings.uri)

    def _make(self, dimension: int, schema_id: str) -> None:
        from pymilvus import DataType, Function, FunctionType, MilvusClient

        schema = MilvusClient.create_schema(auto_id=False, enable_dynamic_field=False, description=schema_id)
        schema.add_field("page_id", DataType.VARCHAR, is_primary=True, max_length=128)
        schema.add_field("row_hash", DataType.VARCHAR, max_length=64)
        schema.add_field("dense", DataType.FLOAT_VECTOR, dim=dimension)
        parameters = MilvusClient.prepare_index_params()
        parameters.add_index("dense", index_type=self._settings.dense, metric_type="IP", params=dict(self._settings.build_parameters))
        if self._lexical:
            schema.add_field("sparse", DataType.SPARSE_FLOAT_VECTOR)
            parameters.add_index("sparse", index_type="SPARSE_INVERTED_INDEX", metric_type="IP")
        else:
            bm25 = {"bm25_k1": self._settings.bm25_k1, "bm25_b": self._settings.bm25_b}
            for name, analyser in (("words", _WORDS), ("chinese", _CHINESE)):
                schema.add_field(name, DataType.VARCHAR, max_length=65_535, enable_analyzer=True, analyzer_params=analyser)
                schema.add_field(f"sparse_{name}", DataType.SPARSE_FLOAT_VECTOR)
                schema.add_function(
                    Function(name=f"bm25_{name}", input_field_names=[name], output_field_names=[f"sparse_{name}"], function_type=FunctionType.BM25)
                )
                parameters.add_index(f"sparse_{name}", index_type="SPARSE_INVERTED_INDEX", metric_type="BM25", params=dict(bm25))
        self._client.create_collection(self._collection, schema=schema)
        # The collection is empty: waiting for its indexes would only cost half a second each.
        self._client.create_index(self._collection, parameters, sync=False)
        self._client.load_collection(self._collection)

    def upsert(self, rows: Sequence[IndexRow]) -> None:
        """Insert or replace rows by page id.

        Raises:
            TerrariumError: a vector is not finite; nothing was written.
            Outage: the engine failed.
        """
        import numpy as np

        if not rows:
            return
        refuse_unusable(np.stack([row.dense for row in rows]), [row.page_id for row in rows])
        data: list[dict[str, Any]] = []
        for row in rows:
            entry: dict[str, Any] = {"page_id": row.page_id, "row_hash": row.row_hash, "dense": np.asarray(row.dense, dtype=np.float32)}
            if self._lexical:
                entry["sparse"] = dict(row.lexical or {})
            else:
                read = row.text if row.words is None else row.words
                entry["words"], entry["chinese"] = _bounded(without_han(read)), _bounded(han_of(read))
            data.append(entry)
        self._call("upsert", lambda client: client.upsert(self._collection, data, timeout=max(120.0, self._settings.seconds)))

    def delete(self, page_ids: Iterable[str]) -> None:
        """Remove rows; ids that are not there cost nothing."""
        ids = sorted(page_ids)
        for start in range(0, len(ids), 1000):
            chunk = ids[start : start + 1000]
            self._call("delete", partial(self._remove, chunk))

    def _remove(self, ids: Sequence[str], client: Any) -> None:
        client.delete(self._collection, ids=list(ids), timeout=self._settings.seconds)

    def row_hashes(self) -> dict[str, str]:
        """page id -> row hash of all rows."""

        def read(client: Any) -> dict[str, str]:
            found: dict[str, str] = {}
            iterator = client.query_iterator(self._collection, batch_size=2000, output_fields=["page_id", "row_hash"], filter="")
            try:
                while batch := iterator.next():
                    found.update((row["page_id"], row["row_hash"]) for row in batch)
            finally:
                iterator.close()
            return found

        return self._call("list", read)

    def digest(self) -> str:
        """One hash over all rows, whatever order they were written in."""
        digest = hashlib.sha256()
        for page_id, value in sorted(self.row_hashes().items()):
            digest.update(f"{page_id} {value}\n".encode())
        return digest.hexdigest()[:32]

    def legs(self, query: str, dense: np.ndarray | None, lexical: Mapping[int, float] | None, depth: int) -> list[Leg]:
        """The best `depth` page ids of each leg with their scores, best first, ties by page id.

        `dense` None leaves the dense leg out (the embedder cannot read the query).

        Raises:
            Outage: the engine failed.
        """
        legs = []
        if dense is not None:
            legs.append(self._leg("dense", dense, self._settings.search_parameters, depth))
        if self._lexical:
            if lexical:
                legs.append(self._leg("sparse", dict(lexical), {}, depth))
        else:
            if words := without_han(query):
                legs.append(self._leg("sparse_words", words, {}, depth))
            if chinese := han_of(query):
                legs.append(self._leg("sparse_chinese", chinese, {}, depth))
        return legs

    def _leg(self, field: str, data: Any, parameters: Mapping[str, int], depth: int) -> Leg:
        # The engine cuts among equals as it likes: ask for more until the cut falls between unequal scores.
        limit = min(depth + 16, _MAX_ROWS)
        while True:
            rows = self._call("search", partial(self._ask, field, data, parameters, limit))
            found = [(row["page_id"] if "page_id" in row else row["id"], round(float(row["distance"]), _DIGITS)) for row in rows]
            if len(found) < limit or limit >= _MAX_ROWS or found[-1][1] < found[depth - 1][1]:
                return tuple(sorted(found, key=lambda hit: (-hit[1], hit[0]))[:depth])
            limit = min(4 * limit, _MAX_ROWS)

    def _ask(self, field: str, data: Any, parameters: Mapping[str, int], limit: int, client: Any) -> Any:
        return client.search(
            self._collection, data=[data], anns_field=field, limit=limit, search_params={"params": dict(parameters)}, timeout=self._settings.seconds
        )[0]

    def close(self) -> None:
        """Let go of the engine; an embedded one has ended when this returns."""
        if self._lite is not None:
            self._lite.close()
            self._lite = None
        elif self._client is not None:
            self._client.close()
        self._client = None

    def __enter__(self) -> SearchIndex:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _call(self, what: str, work: Callable[[Any], Any]) -> Any:
        """Run a request; once more on a fresh engine if the embedded one died (somebody else's kill, the system's memory)."""
        from pymilvus.exceptions import MilvusException

        if self._client is None:
            raise TerrariumError(f"The search index at {self._place} was closed and is used again; open the world anew.")
        try:
            return work(self._client)
        except MilvusException as first:
            if self._lite is None or not _gone(first):
                raise Outage(f"The search engine at {self._place} failed to {what} ({_short(first)}); look at its log and try again.") from first
        try:
            self._lite.reopen()
            self._client = self._lite.client
            self._client.load_collection(self._collection)
            return work(self._client)
        except MilvusException as error:
            raise Outage(f"The search engine at {self._place} failed to {what} twice ({_short(error)}); check memory and disk space.") from error


def _gone(error: Exception) -> bool:
    text = str(error).lower()
    return "connect" in text or "unavailable" in text or "closed channel" in text or "stream removed" in text


def _short(error: Exception) -> str:
    return re.sub(r"\s+", " ", str(error))[:160]


def _bounded(text: str) -> str:
    encoded = text.encode()
    return text if len(encoded) <= _MAX_TEXT else encoded[:_MAX_TEXT].decode(errors="ignore")
