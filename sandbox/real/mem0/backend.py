"""A memory backend over the installed major version of mem0: the six documented endpoints, and three more, to list a
user's memories, and to change and delete one.

    python backend.py SETTINGS.json

The settings file names the port, the Qdrant server, the collection, the vector size, the users by API key and the state file.
The state file says who may write; it is read at every write, so that maintenance starts and ends without a restart.
"""

import json
import os
import sys
import time
from functools import cache
from pathlib import Path

SETTINGS = json.loads(Path(sys.argv[1]).read_text())

# mem0 reads these once, when it is imported.
os.environ["MEM0_TELEMETRY"] = "false"
os.environ["MEM0_DIR"] = SETTINGS["folder"]

import stand_ins  # noqa: E402

stand_ins.install(SETTINGS["dimensions"])

import mem0  # noqa: E402
import uvicorn  # noqa: E402
from fastapi import Depends, FastAPI, Header, HTTPException  # noqa: E402
from pydantic import BaseModel  # noqa: E402
from qdrant_client import QdrantClient, models  # noqa: E402

HAS_GRAPH = mem0.__version__.startswith("1.")

# Without a limit, mem0 lists at most 100 (1.x) or 20 (2.x) memories.
MAX_LISTED = 10_000


class Message(BaseModel):
    role: str = "user"
    content: str


class NewMemory(BaseModel):
    user_id: str
    messages: list[Message]


class ChangedMemory(BaseModel):
    user_id: str
    text: str


class Search(BaseModel):
    user_id: str
    query: str


class Chat(BaseModel):
    user_id: str
    message: str


app = FastAPI()


@cache
def memory() -> mem0.Memory:
    """Create the memory on the first request that needs it: creating it also creates its collection."""
    qdrant = {"url": SETTINGS["qdrant"]["url"], "api_key": SETTINGS["qdrant"].get("apiKey")}
    collection = {
        "collection_name": SETTINGS["collection"],
        "embedding_model_dims": SETTINGS["dimensions"],
        # mem0's own client times out after five seconds, which is too short on a busy machine.
        "client": QdrantClient(**qdrant, timeout=60),
    }
    return mem0.Memory.from_config(
        {
            "vector_store": {"provider": "qdrant", "config": collection},
            "history_db_path": str(Path(SETTINGS["folder"]) / "history.db"),
        }
    )


def user_of_key(x_api_key: str = Header("")) -> str:
    user = SETTINGS["users"].get(x_api_key)
    if user is None:
        raise HTTPException(401, "Unknown key")
    return user


def assert_own(user: str, user_id: str) -> None:
    if user != user_id:
        raise HTTPException(403, "Key of another user")


def assert_may_write(user_id: str) -> None:
    state = json.loads(Path(SETTINGS["state"]).read_text())
    only, until = state.get("only"), state.get("frozenUntil", 0)
    if time.time() * 1000 < until or (only is not None and only != user_id):
        raise HTTPException(503, "Under maintenance")


@app.get("/health")
def health():
    return {"status": "ok", "mem0": mem0.__version__}


@app.post("/memories")
def add(body: NewMemory, user: str = Depends(user_of_key)):
    assert_own(user, body.user_id)
    assert_may_write(user)
    return memory().add([message.model_dump() for message in body.messages], user_id=user)


@app.get("/memories/{user_id}")
def list_memories(user_id: str, user: str = Depends(user_of_key)):
    assert_own(user, user_id)
    if HAS_GRAPH:
        return memory().get_all(user_id=user, limit=MAX_LISTED)
    return memory().get_all(filters={"user_id": user}, top_k=MAX_LISTED)


@app.put("/memories/{memory_id}")
def change(memory_id: str, body: ChangedMemory, user: str = Depends(user_of_key)):
    assert_own(user, body.user_id)
    assert_may_write(user)
    return memory().update(memory_id, data=body.text)


@app.delete("/memories/{memory_id}")
def delete(memory_id: str, user: str = Depends(user_of_key)):
    assert_may_write(user)
    return memory().delete(memory_id)


@app.post("/memories/search")
def search(body: Search, user: str = Depends(user_of_key)):
    assert_own(user, body.user_id)
    if HAS_GRAPH:
        return memory().search(body.query, user_id=user)
    return memory().search(body.query, filters={"user_id": user})


@app.post("/chat")
def chat(body: Chat, user: str = Depends(user_of_key)):
    assert_own(user, body.user_id)
    assert_may_write(user)
    return {"reply": f"You said: {body.message}"}


@app.get("/stats/{user_id}")
def stats(user_id: str, _: str = Depends(user_of_key)):
    """Count exactly: `get_all` would stop at its own limit."""
    is_user = models.FieldCondition(key="user_id", match=models.MatchValue(value=user_id))
    store = memory().vector_store
    counted = store.client.count(store.collection_name, models.Filter(must=[is_user]), exact=True)
    return {"memory_count": counted.count}


@app.get("/graph/relationships/{user_id}")
def relationships(user_id: str, _: str = Depends(user_of_key)):
    return {"relationships": []} if HAS_GRAPH else {"relationships": [], "deprecated": True}


if __name__ == "__main__":
    uvicorn.run(app, host="127.0.0.1", port=SETTINGS["port"], log_level="warning")
