"""Qdrant's REST calls over Qdrant's storage engine without its server (qdrant-edge-py): a collection is a shard in a folder.

    python front.py PORT FOLDER

The engine decides what points, vectors, filters, searches and update modes do. This file keeps names and settings of collections,
which belong to the server. What neither has is answered with 501.
"""

import json
import shutil
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from re import IGNORECASE, fullmatch, search as find
from urllib.parse import unquote, urlsplit
from uuid import UUID

import qdrant_edge as engine

VERSION = "1.18.0"
BM25 = engine.Bm25()
MODES = {
    "upsert": engine.UpdateMode.Upsert,
    "insert_only": engine.UpdateMode.InsertOnly,
    "update_only": engine.UpdateMode.UpdateOnly,
}
INDEXES = {name.lower(): getattr(engine.PayloadSchemaType, name) for name in ("Keyword", "Integer", "Float", "Bool", "Uuid")}


class Refused(Exception):
    def __init__(self, status, why):
        super().__init__(why)
        self.status = status


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


class Collection:
    def __init__(self, folder, settings):
        self.folder = folder
        self.vectors = settings["vectors"]
        self.sparse = settings.get("sparse_vectors") or {}
        self.operations = 0
        config = engine.EdgeConfig(
            vectors=vector_params(self.vectors),
            sparse_vectors={name: sparse_params(params) for name, params in self.sparse.items()} or None,
        )
        self.shard = engine.EdgeShard.create(str(folder), config)

    def update(self, operation):
        self.operations += 1
        self.shard.update(operation)
        return {"operation_id": self.operations, "status": "completed"}

    def info(self):
        found = self.shard.info()
        params = {"vectors": self.vectors, "shard_number": 1, "replication_factor": 1, "on_disk_payload": True}
        return {
            "status": "green",
            "optimizer_status": "ok",
            "points_count": found.points_count,
            "indexed_vectors_count": found.indexed_vectors_count,
            "segments_count": found.segments_count,
            "config": {
                "params": params | ({"sparse_vectors": self.sparse} if self.sparse else {}),
                "hnsw_config": {},
                "optimizer_config": {},
                "quantization_config": None,
            },
            "payload_schema": {
                name: {"data_type": str(index.data_type).rpartition(".")[2].lower(), "points": index.points}
                for name, index in found.payload_schema.items()
            },
        }

    def remove(self):
        self.shard.close()
        shutil.rmtree(self.folder)


# From JSON to the engine's words.


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
    return {name: named_vector(one, BM25.embed_document) for name, one in value.items()}


def match(value):
    if "any" in value:
        return engine.MatchAny(value["any"])
    if "value" in value:
        return engine.MatchValue(value["value"])
    raise Refused(501, f"No match of the kind {list(value)}")


def condition(value):
    if "has_id" in value:
        return engine.HasIdCondition({point_id(one) for one in value["has_id"]})
    if "has_vector" in value:
        return engine.HasVectorCondition(value["has_vector"])
    if "is_empty" in value:
        return engine.IsEmptyCondition(value["is_empty"]["key"])
    if "is_null" in value:
        return engine.IsNullCondition(value["is_null"]["key"])
    if "match" in value:
        return engine.FieldCondition(value["key"], match=match(value["match"]))
    if value.keys() & {"must", "should", "must_not"}:
        return filtering(value)
    raise Refused(501, f"No condition of the kind {list(value)}")


def filtering(value):
    if not value:
        return None

    def clause(name):
        given = value.get(name)
        if given is None:
            return None
        return [condition(one) for one in (given if isinstance(given, list) else [given])]

    return engine.Filter(must=clause("must"), should=clause("should"), must_not=clause("must_not"))


# From the engine's words to JSON.


def vector_json(value):
    if isinstance(value, dict):
        named = {name: vector_json(one) for name, one in value.items()}
        return named[""] if list(named) == [""] else named
    if isinstance(value, list):
        # JSON has no other word for what is no number.
        return [one if one == one else None for one in value]
    if hasattr(value, "indices"):
        return {"indices": list(value.indices), "values": list(value.values)}
    return value


def point_json(point, asked):
    shown = {"id": point.id if isinstance(point.id, int) else str(point.id)}
    if asked.get("with_payload", True) is not False:
        shown["payload"] = point.payload or {}
    if asked.get("with_vector", False) is not False:
        shown["vector"] = vector_json({} if point.vector is None else point.vector)
    return shown


class Store:
    def __init__(self, folder):
        self.folder = Path(folder)
        self.collections = {}
        self.aliases = {}
        self.made = 0

    def find(self, name):
        collection = self.collections.get(self.aliases.get(name, name))
        if collection is None:
            raise Refused(404, f"Not found: Collection `{name}` doesn't exist!")
        return collection

    # Collections and aliases.

    def list_collections(self, _):
        return {"collections": [{"name": name} for name in self.collections]}

    def exists(self, _, name):
        return {"exists": self.aliases.get(name, name) in self.collections}

    def info(self, _, name):
        return self.find(name).info()

    def shards(self, _, name):
        local = [{"shard_id": 0, "points_count": self.find(name).shard.info().points_count, "state": "Active"}]
        return {"peer_id": 1, "shard_count": 1, "local_shards": local, "remote_shards": [], "shard_transfers": []}

    def create(self, body, name):
        if name in self.aliases:
            raise Refused(400, f"Wrong input: Can't create collection with name {name}. Alias with the same name already exists")
        if name in self.collections:
            raise Refused(409, f"Wrong input: Collection `{name}` already exists!")
        if body.keys() - {"vectors", "sparse_vectors"}:
            raise Refused(501, f"Settings that the front does not keep: {sorted(body.keys() - {'vectors', 'sparse_vectors'})}")
        self.made += 1
        folder = self.folder / str(self.made)
        folder.mkdir()
        self.collections[name] = Collection(folder, body)
        return True

    def remove(self, _, name):
        collection = self.collections.pop(name, None)
        self.aliases = {alias: other for alias, other in self.aliases.items() if other != name}
        if collection:
            collection.remove()
        return collection is not None

    def list_aliases(self, _):
        return {"aliases": [{"alias_name": alias, "collection_name": name} for alias, name in self.aliases.items()]}

    def change_aliases(self, body):
        for action in body["actions"]:
            if "delete_alias" in action:
                self.aliases.pop(action["delete_alias"]["alias_name"], None)
            else:
                made = action["create_alias"]
                self.find(made["collection_name"])
                self.aliases[made["alias_name"]] = made["collection_name"]
        return True

    def create_index(self, body, name):
        schema = body["field_schema"]
        kind = schema if isinstance(schema, str) else schema["type"]
        if kind not in INDEXES:
            raise Refused(501, f"No index of the kind {kind}")
        return self.find(name).update(engine.UpdateOperation.create_field_index(body["field_name"], INDEXES[kind]))

    # Points.

    def count(self, body, name):
        return {"count": self.find(name).shard.count(engine.CountRequest(True, filtering(body.get("filter"))))}

    def facet(self, body, name):
        request = engine.FacetRequest(body["key"], body["limit"], True, filtering(body.get("filter")))
        return {"hits": [{"value": hit.value, "count": hit.count} for hit in self.find(name).shard.facet(request).hits]}

    def scroll(self, body, name):
        offset = body.get("offset")
        request = engine.ScrollRequest(
            offset=None if offset is None else point_id(offset),
            limit=body["limit"],
            filter=filtering(body.get("filter")),
            with_payload=body.get("with_payload", True),
            with_vector=body.get("with_vector", False),
        )
        points, following = self.find(name).shard.scroll(request)
        following = following if following is None or isinstance(following, int) else str(following)
        return {"points": [point_json(point, body) for point in points], "next_page_offset": following}

    def retrieve(self, body, name):
        ids = [point_id(one) for one in body["ids"]]
        found = self.find(name).shard.retrieve(ids, body.get("with_payload", True), body.get("with_vector", False))
        return [point_json(point, body) for point in found]

    def query(self, body, name):
        collection = self.find(name)
        asked = body["query"]
        wanted = asked["nearest"] if isinstance(asked, dict) and "nearest" in asked else asked
        request = engine.SearchRequest(
            query=engine.Query.Nearest(named_vector(wanted, BM25.embed_query), body.get("using")),
            limit=body.get("limit", 10),
            offset=0,
            filter=filtering(body.get("filter")),
            params=engine.SearchParams(exact=body.get("params", {}).get("exact", False)),
            with_payload=body.get("with_payload", False),
            with_vector=body.get("with_vector", False),
            score_threshold=body.get("score_threshold"),
        )
        hits = collection.shard.search(request)
        return {"points": [point_json(hit, {"with_payload": False} | body) | {"version": hit.version, "score": hit.score} for hit in hits]}

    def upsert(self, body, name):
        points = [engine.Point(point_id(one["id"]), point_vector(one["vector"]), one.get("payload") or {}) for one in body["points"]]
        mode = MODES[body.get("update_mode") or "upsert"]
        condition = filtering(body.get("update_filter"))
        return self.find(name).update(engine.UpdateOperation.upsert_points(points, condition, mode))

    def update_vectors(self, body, name):
        points = [engine.PointVectors(point_id(one["id"]), point_vector(one["vector"])) for one in body["points"]]
        return self.find(name).update(engine.UpdateOperation.update_vectors(points, filtering(body.get("update_filter"))))

    def set_payload(self, body, name):
        ids = [point_id(one) for one in body["points"]]
        return self.find(name).update(engine.UpdateOperation.set_payload(ids, body["payload"]))

    def delete_points(self, body, name):
        if "points" in body:
            operation = engine.UpdateOperation.delete_points([point_id(one) for one in body["points"]])
        else:
            operation = engine.UpdateOperation.delete_points_by_filter(filtering(body["filter"]))
        return self.find(name).update(operation)


ROUTES = {
    "GET /cluster": lambda store, body: {"status": "disabled"},
    "GET /aliases": Store.list_aliases,
    "POST /collections/aliases": Store.change_aliases,
    "GET /collections": Store.list_collections,
    "GET /collections/([^/]+)": Store.info,
    "PUT /collections/([^/]+)": Store.create,
    "DELETE /collections/([^/]+)": Store.remove,
    "GET /collections/([^/]+)/exists": Store.exists,
    "GET /collections/([^/]+)/cluster": Store.shards,
    "PUT /collections/([^/]+)/index": Store.create_index,
    "POST /collections/([^/]+)/facet": Store.facet,
    "POST /collections/([^/]+)/points": Store.retrieve,
    "PUT /collections/([^/]+)/points": Store.upsert,
    "POST /collections/([^/]+)/points/count": Store.count,
    "POST /collections/([^/]+)/points/scroll": Store.scroll,
    "POST /collections/([^/]+)/points/query": Store.query,
    "POST /collections/([^/]+)/points/delete": Store.delete_points,
    "POST /collections/([^/]+)/points/payload": Store.set_payload,
    "PUT /collections/([^/]+)/points/vectors": Store.update_vectors,
}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    store: Store
    lock = threading.Lock()

    def answer(self):
        begun = time.perf_counter()
        length = int(self.headers.get("content-length") or 0)
        text = self.rfile.read(length)
        path = urlsplit(self.path).path
        if path in ("/", "/readyz"):
            return self.send(200, {"title": "qdrant-edge front", "version": VERSION} if path == "/" else "ready")
        try:
            with self.lock:
                result = self.result(path, json.loads(text) if text else {})
            body = {"result": result, "status": "ok"}
            status = 200
        except Refused as refused:
            status, body = refused.status, {"status": {"error": str(refused)}}
        except Exception as error:  # The engine has one kind of its own for all that it refuses.
            status = 404 if find("No point with id", str(error)) else 400
            body = {"status": {"error": f"{type(error).__name__}: {error}"}}
        self.send(status, body | {"time": time.perf_counter() - begun})

    def result(self, path, body):
        for route, act in ROUTES.items():
            found = fullmatch(route, f"{self.command} {path}")
            if found:
                return act(self.store, body, *(unquote(part) for part in found.groups()))
        raise Refused(501, f"The engine has no {self.command} {path}")

    def send(self, status, body):
        content = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = answer

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    Handler.store = Store(sys.argv[2])
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
