"""Serves Qdrant's REST API from Qdrant's storage engine (qdrant-edge-py), without Qdrant's server.

    python front.py PORT FOLDER

The engine decides what points, vectors, slots, indexes, filters, searches and update modes do. `store.py` adds the
server's part: names and settings of collections, and snapshots. An unsupported call is answered with 501.
"""

import json
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from re import fullmatch, search
from urllib.parse import parse_qsl, unquote, urlsplit

from store import Deferred, Store
from translation import Refused

VERSION = "1.18.0"

ROUTES = {
    "GET /cluster": lambda store, body: {"status": "disabled"},
    "GET /aliases": Store.list_aliases,
    "POST /collections/aliases": Store.change_aliases,
    "GET /collections": Store.list_collections,
    "GET /collections/([^/]+)": Store.info,
    "PUT /collections/([^/]+)": Store.create,
    "PATCH /collections/([^/]+)": Store.change,
    "DELETE /collections/([^/]+)": Store.remove,
    "GET /collections/([^/]+)/exists": Store.exists,
    "GET /collections/([^/]+)/cluster": Store.shards,
    "PUT /collections/([^/]+)/vectors/([^/]+)": Store.add_vector,
    "DELETE /collections/([^/]+)/vectors/([^/]+)": Store.remove_vector,
    "PUT /collections/([^/]+)/index": Store.create_index,
    "POST /collections/([^/]+)/snapshots": Store.create_snapshot,
    "GET /collections/([^/]+)/snapshots": Store.list_snapshots,
    "POST /collections/([^/]+)/snapshots/upload": Store.upload_snapshot,
    "GET /collections/([^/]+)/snapshots/([^/]+)": Store.download_snapshot,
    "DELETE /collections/([^/]+)/snapshots/([^/]+)": Store.remove_snapshot,
    "POST /collections/([^/]+)/facet": Store.facet,
    "POST /collections/([^/]+)/points": Store.retrieve,
    "PUT /collections/([^/]+)/points": Store.upsert,
    "POST /collections/([^/]+)/points/count": Store.count,
    "POST /collections/([^/]+)/points/scroll": Store.scroll,
    "POST /collections/([^/]+)/points/query": Store.query,
    "POST /collections/([^/]+)/points/query/batch": Store.query_batch,
    "POST /collections/([^/]+)/points/delete": Store.delete_points,
    "POST /collections/([^/]+)/points/payload": Store.set_payload,
    "PUT /collections/([^/]+)/points/vectors": Store.update_vectors,
}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    store: Store

    def answer(self):
        address = urlsplit(self.path)
        if address.path in ("/", "/readyz"):
            version = {"title": "qdrant-edge front", "version": VERSION}
            return self.send_json(200, version if address.path == "/" else "ready")
        started = time.perf_counter()
        try:
            body = self.body(dict(parse_qsl(address.query)))
            with self.store.lock:
                started = time.perf_counter()
                result = self.dispatch(address.path, body)
            if isinstance(result, Path):
                return self.send_file(result)
            status, answer = 200, {"result": result, "status": "ok"}
        except Deferred as deferred:
            self.send_json(202, {"status": "accepted", "time": 0})
            return deferred.work()
        except Refused as refused:
            status, answer = refused.status, {"status": {"error": str(refused)}}
        except Exception as error:  # The engine raises one kind of error for every refusal.
            status = 404 if search("No point with id", str(error)) else 400
            answer = {"status": {"error": f"{type(error).__name__}: {error}"}}
        self.send_json(status, answer | {"time": time.perf_counter() - started})

    def body(self, parameters):
        """Return the JSON body, or the query parameters and any uploaded file."""
        content = self.rfile.read(int(self.headers.get("content-length") or 0))
        multipart = fullmatch('multipart/form-data; boundary="?([^"]+)"?', self.headers.get("content-type") or "")
        if not multipart:
            return json.loads(content) if content else parameters
        file = content.partition(b"\r\n\r\n")[2].rpartition(f"\r\n--{multipart[1]}--".encode())[0]
        return parameters | {"file": file}

    def dispatch(self, path, body):
        for route, handle in ROUTES.items():
            match = fullmatch(route, f"{self.command} {path}")
            if match:
                return handle(self.store, body, *(unquote(part) for part in match.groups()))
        raise Refused(501, f"The engine has no {self.command} {path}")

    def send_json(self, status, body):
        self.send(status, "application/json", json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode())

    def send_file(self, file):
        content = file.read_bytes()
        part = fullmatch(r"bytes=(\d+)-", self.headers.get("range") or "")
        self.send(206 if part else 200, "application/octet-stream", content[int(part[1]) :] if part else content)

    def send(self, status, content_type, content):
        self.send_response(status)
        self.send_header("content-type", content_type)
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = answer

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    Handler.store = Store(sys.argv[2])
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
