"""Collections, each a shard of the engine in a folder, with the data that Qdrant's server keeps about them."""

import json
import shutil
import tarfile
import threading
import time
from copy import deepcopy
from hashlib import sha256
from pathlib import Path
from urllib.parse import quote

import qdrant_edge as engine
from translation import (
    BM25,
    INDEXES,
    MODES,
    Refused,
    to_filter,
    named_vector,
    point_id,
    point_json,
    point_vector,
    sparse_params,
    vector_params,
)

class Deferred(Exception):
    """Raised for a request that does not wait: the response is sent before the work is done, and a failure is not reported."""

    def __init__(self, work):
        super().__init__()
        self.work = work


DEFAULTS = {
    "hnsw_config": {"m": 16, "ef_construct": 100, "full_scan_threshold": 10_000, "max_indexing_threads": 0, "on_disk": False},
    "optimizers_config": {
        "deleted_threshold": 0.2,
        "vacuum_min_vector_number": 1_000,
        "default_segment_number": 0,
        "indexing_threshold": 10_000,
        "flush_interval_sec": 5,
    },
    "params": {"shard_number": 1, "replication_factor": 1, "write_consistency_factor": 1, "on_disk_payload": True},
    "quantization_config": None,
}
LAYOUT = ("vectors", "sparse_vectors")
# Optimizer settings that the engine applies; the others are stored, but have no effect.
APPLIED = ("deleted_threshold", "vacuum_min_vector_number", "indexing_threshold")


def merge(settings, changes):
    """Apply changes to settings: a missing name leaves its setting unchanged, and "auto" unsets it."""
    for name, change in changes.items():
        if isinstance(change, dict) and isinstance(settings.get(name), dict):
            merge(settings[name], change)
        elif change == "auto":
            settings.pop(name, None)
        elif change is not None:
            settings[name] = change


def assert_supported(settings):
    # No real server stores a setting, such as the strict mode, without enforcing it.
    unknown = [name for name, value in settings.items() if name not in (*DEFAULTS, *LAYOUT) and value is not None]
    if unknown:
        raise Refused(501, f"Unsupported settings: {unknown}")


class Collection:
    """A folder with a shard and its settings."""

    def __init__(self, folder, settings, operation=-1):
        self.folder = folder
        self.settings = settings
        self.operation = operation
        self.open()

    @classmethod
    def create(cls, folder, layout):
        settings = deepcopy(DEFAULTS)
        merge(settings, layout)
        return cls(folder, settings)

    @classmethod
    def restore(cls, folder, snapshot):
        shutil.unpack_archive(snapshot, folder, "gztar")
        return cls(folder, *json.loads((folder / "settings.json").read_text()))

    def open(self):
        shard = self.folder / "shard"
        optimizers = {name: self.settings["optimizers_config"][name] for name in APPLIED}
        config = engine.EdgeConfig(
            vectors=vector_params(self.settings["vectors"]),
            sparse_vectors={name: sparse_params(params) for name, params in self.sparse.items()} or None,
            optimizers=engine.EdgeOptimizersConfig(**optimizers),
        )
        open_shard = engine.EdgeShard.load if shard.exists() else engine.EdgeShard.create
        self.shard = open_shard(str(shard), config)

    def change(self, settings):
        # Vectors are stored by name; the unnamed vector has the name "".
        merge(self.settings["vectors"], settings.pop("vectors", {}).get("", {}))
        merge(self.settings, settings)
        self.shard.close()
        self.open()

    def copy(self, folder):
        """Copy the collection with the shard's log: without it, the shard would number writes from 0 and skip writes to existing points."""
        self.shard.flush()
        (self.folder / "settings.json").write_text(json.dumps([self.settings, self.operation]))
        shutil.copytree(self.folder, folder, dirs_exist_ok=True)

    @property
    def sparse(self):
        return self.settings.get("sparse_vectors") or {}

    def update(self, operation):
        # The number that the engine gives to this update and its points; a failed update counts, too.
        self.operation += 1
        self.shard.update(operation)
        # The server optimizes in the background; here the write waits for its optimization.
        if self.settings["optimizers_config"].get("max_optimization_threads") != 0:
            self.shard.optimize()
        return {"operation_id": self.operation, "status": "completed"}

    def info(self):
        shard = self.shard.info()
        layout = {name: self.settings[name] for name in LAYOUT if name in self.settings}
        return {
            "status": "green",
            "optimizer_status": "ok",
            "points_count": shard.points_count,
            "indexed_vectors_count": shard.indexed_vectors_count,
            "segments_count": shard.segments_count,
            "config": {
                "params": self.settings["params"] | layout,
                "optimizer_config": self.settings["optimizers_config"],
                "hnsw_config": self.settings["hnsw_config"],
                "quantization_config": self.settings["quantization_config"],
            },
            "payload_schema": {
                name: {"data_type": str(index.data_type).rpartition(".")[2].lower(), "points": index.points}
                for name, index in shard.payload_schema.items()
            },
        }

    def remove(self):
        self.shard.close()
        shutil.rmtree(self.folder)


class Store:
    def __init__(self, folder):
        self.folder = Path(folder)
        self.collections = {}
        self.aliases = {}
        self.folder_count = 0
        # Held during each request; deferred work holds it only briefly.
        self.lock = threading.RLock()

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
        assert_supported(body)
        self.collections[name] = Collection.create(self.new_folder(), body)
        return True

    def new_folder(self):
        with self.lock:
            self.folder_count += 1
            folder = self.folder / str(self.folder_count)
        folder.mkdir()
        return folder

    def change(self, body, name):
        assert_supported(body)
        self.find(name).change(body)
        return True

    def add_vector(self, body, name, vector):
        if "sparse" not in body:
            raise Refused(501, "Only sparse vectors can be added")
        collection = self.find(name)
        modifier = sparse_params(body["sparse"]).modifier
        # The engine does not count this refusal as an update.
        if vector in collection.sparse and sparse_params(collection.sparse[vector]).modifier != modifier:
            raise Refused(400, f"Wrong input: Vector `{vector}` already exists with a different configuration")
        result = collection.update(engine.UpdateOperation.create_sparse_vector(vector, modifier))
        collection.settings["sparse_vectors"] = collection.sparse | {vector: body["sparse"]}
        return result

    def remove_vector(self, _, name, vector):
        collection = self.find(name)
        result = collection.update(engine.UpdateOperation.delete_vector_name(vector))
        collection.settings["sparse_vectors"] = {key: value for key, value in collection.sparse.items() if key != vector}
        return result

    def remove(self, _, name):
        collection = self.collections.pop(name, None)
        self.aliases = {alias: target for alias, target in self.aliases.items() if target != name}
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
                alias = action["create_alias"]
                self.find(alias["collection_name"])
                self.aliases[alias["alias_name"]] = alias["collection_name"]
        return True

    def create_index(self, body, name):
        schema = body["field_schema"]
        index_type = schema if isinstance(schema, str) else schema["type"]
        if index_type not in INDEXES:
            raise Refused(501, f"No index of type {index_type}")
        return self.find(name).update(engine.UpdateOperation.create_field_index(body["field_name"], INDEXES[index_type]))

    # Snapshots.

    def snapshots(self, name):
        """Return the snapshot folder, which outlives the collection and is used by a new collection of the same name."""
        self.find(name)
        folder = self.folder / "snapshots" / quote(name, safe="")
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def snapshot(self, name, file):
        path = self.snapshots(name) / file
        if not path.is_file():
            raise Refused(404, f"Not found: Snapshot {file} not found")
        return path

    def create_snapshot(self, body, name):
        timestamp = time.strftime("%Y-%m-%d-%H-%M-%S", time.gmtime())
        file = self.snapshots(name) / f"{name}-1-{timestamp}.snapshot"
        return run_now_or_later(body, lambda: self.archive(name, file))

    def archive(self, name, file):
        # Renamed once complete, so that only complete snapshots are listed.
        part = file.with_suffix(".part")
        folder = self.new_folder()
        with self.lock:
            self.find(name).copy(folder)
        with tarfile.open(part, "w:gz", compresslevel=1) as archive:
            archive.add(folder, ".")
        shutil.rmtree(folder)
        part.rename(file)
        return describe(file)

    def list_snapshots(self, _, name):
        return [describe(file) for file in sorted(self.snapshots(name).glob("*.snapshot"))]

    def download_snapshot(self, _, name, file):
        return self.snapshot(name, file)

    def remove_snapshot(self, _, name, file):
        self.snapshot(name, file).unlink()
        return True

    def upload_snapshot(self, body, name):
        if body.get("checksum", digest := sha256(body["file"]).hexdigest()) != digest:
            raise Refused(400, "Wrong input: Snapshot checksum mismatch")
        return run_now_or_later(body, lambda: self.restore(name, body["file"]))

    def restore(self, name, content):
        folder = self.new_folder()
        file = folder.with_suffix(".snapshot")
        file.write_bytes(content)
        restored = Collection.restore(folder, file)
        file.unlink()
        with self.lock:
            if name in self.collections:
                self.collections[name].remove()
            self.collections[name] = restored
        return True

    # Points.

    def count(self, body, name):
        return {"count": self.find(name).shard.count(engine.CountRequest(True, to_filter(body.get("filter"))))}

    def facet(self, body, name):
        request = engine.FacetRequest(body["key"], body["limit"], True, to_filter(body.get("filter")))
        return {"hits": [{"value": hit.value, "count": hit.count} for hit in self.find(name).shard.facet(request).hits]}

    def scroll(self, body, name):
        offset = body.get("offset")
        request = engine.ScrollRequest(
            offset=None if offset is None else point_id(offset),
            limit=body["limit"],
            filter=to_filter(body.get("filter")),
            with_payload=body.get("with_payload", True),
            with_vector=body.get("with_vector", False),
        )
        points, next_offset = self.find(name).shard.scroll(request)
        next_offset = next_offset if next_offset is None or isinstance(next_offset, int) else str(next_offset)
        return {"points": [point_json(point, body) for point in points], "next_page_offset": next_offset}

    def retrieve(self, body, name):
        ids = [point_id(item) for item in body["ids"]]
        points = self.find(name).shard.retrieve(ids, body.get("with_payload", True), body.get("with_vector", False))
        return [point_json(point, body) for point in points]

    def query(self, body, name):
        collection = self.find(name)
        query = body["query"]
        vector = query["nearest"] if isinstance(query, dict) and "nearest" in query else query
        request = engine.SearchRequest(
            query=engine.Query.Nearest(named_vector(vector, BM25.embed_query), body.get("using")),
            limit=body.get("limit", 10),
            offset=0,
            filter=to_filter(body.get("filter")),
            params=engine.SearchParams(exact=body.get("params", {}).get("exact", False)),
            with_payload=body.get("with_payload", False),
            with_vector=body.get("with_vector", False),
            score_threshold=body.get("score_threshold"),
        )
        hits = collection.shard.search(request)
        return {"points": [point_json(hit, {"with_payload": False} | body) | {"version": hit.version, "score": hit.score} for hit in hits]}

    def query_batch(self, body, name):
        return [self.query(item, name) for item in body["searches"]]

    def upsert(self, body, name):
        points = [engine.Point(point_id(item["id"]), point_vector(item["vector"]), item.get("payload") or {}) for item in body["points"]]
        mode = MODES[body.get("update_mode") or "upsert"]
        condition = to_filter(body.get("update_filter"))
        return self.find(name).update(engine.UpdateOperation.upsert_points(points, condition, mode))

    def update_vectors(self, body, name):
        points = [engine.PointVectors(point_id(item["id"]), point_vector(item["vector"])) for item in body["points"]]
        return self.find(name).update(engine.UpdateOperation.update_vectors(points, to_filter(body.get("update_filter"))))

    def set_payload(self, body, name):
        ids = [point_id(item) for item in body["points"]]
        return self.find(name).update(engine.UpdateOperation.set_payload(ids, body["payload"]))

    def delete_points(self, body, name):
        if "points" in body:
            operation = engine.UpdateOperation.delete_points([point_id(item) for item in body["points"]])
        else:
            operation = engine.UpdateOperation.delete_points_by_filter(to_filter(body["filter"]))
        return self.find(name).update(operation)


def run_now_or_later(body, work):
    if body.get("wait") == "false":
        raise Deferred(work)
    return work()


def describe(file):
    created = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(file.stat().st_mtime))
    content = file.read_bytes()
    return {"name": file.name, "creation_time": created, "size": len(content), "checksum": sha256(content).hexdigest()}
