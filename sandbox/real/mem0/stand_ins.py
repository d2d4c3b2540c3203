"""Deterministic stand-ins for mem0's language and embedding models. Everything else is mem0's own code."""

import ast
import hashlib
import json
import re
import tempfile
from pathlib import Path

WORD = re.compile(r"[^\W_]+")
COMMON_WORDS = 3  # As in the sandbox: any two texts count as sharing this many words.


def install(dimensions: int) -> None:
    """Install the stand-ins; must run before the first `Memory` is created."""
    from mem0.utils.factory import EmbedderFactory, LlmFactory

    EmbedderFactory.create = lambda *_: Embedder(dimensions)
    LlmFactory.create = lambda *_: LanguageModel()
    try:
        from mem0.utils import spacy_models
    except ImportError:
        return  # mem0 1.x has neither entities nor keyword vectors.
    pipeline = make_pipeline()
    spacy_models.get_nlp_full = lambda: pipeline
    spacy_models.get_nlp_lemma = lambda: pipeline
    install_keyword_model()


class Embedder:
    """The same vectors as the sandbox's `embed`."""

    def __init__(self, dimensions: int):
        self.dimensions = dimensions

    def embed(self, text: str, memory_action=None) -> list[float]:
        total = [COMMON_WORDS * value for value in self.embed_word("")]
        for word in WORD.findall(text.lower()) or [""]:
            total = [sum(pair) for pair in zip(total, self.embed_word(word))]
        length = sum(value * value for value in total) ** 0.5 or 1.0
        return [value / length for value in total]

    def embed_word(self, word: str) -> list[int]:
        seed = hashlib.sha256(word.encode()).digest()
        return [(seed[n * 7 % 32] ^ (n & 0xFF)) - 128 for n in range(self.dimensions)]

    def embed_batch(self, texts: list[str], memory_action=None) -> list[list[float]]:
        return [self.embed(text) for text in texts]


class LanguageModel:
    """Turns each user message into one fact, and each fact into one memory."""

    def generate_response(self, messages, **_) -> str:
        prompt = messages[-1]["content"]
        if "## New Messages" in prompt:  # mem0 2.x extracts and adds in one call.
            section = prompt.split("## New Messages", 1)[1].split("\n## ", 1)[0]
            memories = [{"id": str(n), "text": fact} for n, fact in enumerate(find_user_messages(section))]
            return json.dumps({"memory": memories})
        if messages[0]["role"] == "system":  # The first of two calls of mem0 1.x.
            return json.dumps({"facts": find_user_messages(prompt)})
        facts = ast.literal_eval(last_block(prompt))
        memories = [{"id": str(n), "text": fact, "event": "ADD"} for n, fact in enumerate(facts)]
        return json.dumps({"memory": memories})


def find_user_messages(prompt: str) -> list[str]:
    return re.findall(r"^user: (.+)$", prompt, re.MULTILINE)


def last_block(prompt: str) -> str:
    """mem0 1.x writes the facts as a Python list inside the last code block."""
    return re.findall(r"```\s*(\[.*?\])\s*```", prompt, re.DOTALL)[-1]


def make_pipeline():
    """English tokens; lemmas by suffix; a capitalised word is a proper noun unless it begins the sentence."""
    import spacy
    from spacy.language import Language

    @Language.component("rules")
    def rules(doc):
        for token in doc:
            is_name = token.is_title and token.i > 0 and not token.is_stop
            token.pos_ = "PROPN" if is_name else "X"
            token.lemma_ = lemmatize(token.text)
            token.dep_ = "dep"
        return doc

    pipeline = spacy.blank("en")
    pipeline.add_pipe("rules")
    return pipeline


def lemmatize(word: str) -> str:
    for suffix, ending in (("ies", "y"), ("sses", "ss"), ("ing", ""), ("ed", ""), ("s", "")):
        if word.endswith(suffix) and len(word) - len(suffix) >= 3 and not word.endswith("ss"):
            return word[: -len(suffix)] + ending
    return word


def install_keyword_model() -> None:
    """Replace the download of the model with a list of stop words."""
    from fastembed.sparse.bm25 import Bm25
    from spacy.lang.en.stop_words import STOP_WORDS

    folder = Path(tempfile.mkdtemp(prefix="bm25-"))
    (folder / "english.txt").write_text("\n".join(sorted(STOP_WORDS)))
    Bm25.download_model = classmethod(lambda cls, *_, **__: folder)
