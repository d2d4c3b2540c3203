"""Translates between Qdrant's REST format and the types of its engine."""

from re import IGNORECASE, fullmatch
from uuid import UUID

import qdrant_edge as engine

BM25 = engine.Bm25()
MODES = {
    "upsert": engine.UpdateMode.Upsert,
    "insert_only": engine.UpdateMode.InsertOnly,
    "update_only": engine.UpdateMode.UpdateOnly,
}
INDEXES = {name.lower(): getattr(engine.PayloadSchemaType, name) for name in ("Keyword", "Integer", "Float", "Bool", "Uuid")}


class Refused(Exception):
    """Raised for a refused request, which changed nothing."""

    def __init__(self, status, why):
        super().__init__(why)
        self.status = status


# From JSON.


def vector_params(params):
    datatypes = {name.lower(): getattr(engine.VectorStorageDatatype, name) for name in ("Float32", "Float16", "Uint8")}
    return engine.EdgeVectorParams(
        size=params["size"],
        distance=getattr(engine.Distance, params["distance"]),
        on_disk=params.get("on_disk"),
        datatype=datatypes.get(params.get("datatype")),
    )


def sparse_params(params):
    return engine.EdgeSparseVectorParams(modifier=engine.Modifier.Idf if params.get("modifier") == "idf" else None)


def point_id(value):
    return value if isinstance(value, int) else UUID(value)


def is_keyword_model(document):
    return fullmatch("(qdrant/)?bm25", document.get("model", ""), IGNORECASE)


def named_vector(value, embed):
    if not isinstance(value, dict):
        return value
    if "text" in value:
        if not is_keyword_model(value):
            raise Refused(400, "Wrong input: Unsupported model")
        return embed(value["text"])
    return engine.SparseVector(value["indices"], value["values"])


def point_vector(value):
    if not isinstance(value, dict):
        return value
    return {name: named_vector(item, BM25.embed_document) for name, item in value.items()}


def to_match(value):
    if "any" in value:
        return engine.MatchAny(value["any"])
    if "value" in value:
        return engine.MatchValue(value["value"])
    raise Refused(501, f"No match of type {list(value)}")


def to_condition(value):
    if "has_id" in value:
        return engine.HasIdCondition({point_id(item) for item in value["has_id"]})
    if "has_vector" in value:
        return engine.HasVectorCondition(value["has_vector"])
    if "is_empty" in value:
        return engine.IsEmptyCondition(value["is_empty"]["key"])
    if "is_null" in value:
        return engine.IsNullCondition(value["is_null"]["key"])
    if "match" in value:
        return engine.FieldCondition(value["key"], match=to_match(value["match"]))
    if value.keys() & {"must", "should", "must_not"}:
        return to_filter(value)
    raise Refused(501, f"No condition of type {list(value)}")


def to_filter(value):
    if not value:
        return None

    def clause(name):
        conditions = value.get(name)
        if conditions is None:
            return None
        return [to_condition(item) for item in (conditions if isinstance(conditions, list) else [conditions])]

    return engine.Filter(must=clause("must"), should=clause("should"), must_not=clause("must_not"))


# To JSON.


def vector_json(value):
    if isinstance(value, dict):
        named = {name: vector_json(item) for name, item in value.items()}
        return named[""] if list(named) == [""] else named
    if isinstance(value, list):
        # JSON has no NaN.
        return [item if item == item else None for item in value]
    if hasattr(value, "indices"):
        return {"indices": list(value.indices), "values": list(value.values)}
    return value


def point_json(point, body):
    shown = {"id": point.id if isinstance(point.id, int) else str(point.id)}
    if body.get("with_payload", True) is not False:
        shown["payload"] = point.payload or {}
    if body.get("with_vector", False) is not False:
        shown["vector"] = vector_json({} if point.vector is None else point.vector)
    return shown
