"""A server on loopback that says what it is told to, wrong things too."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def completion(text, reason="stop"):
    return json.dumps({"choices": [{"message": {"role": "assistant", "content": text}, "finish_reason": reason}]})


class Server(ThreadingHTTPServer):
    """Plays `script`: (status, text) in turn, the last one again and again; `hang` and `drip` wait for `release`.

    With `embed` set it answers every request with the vectors of its input.
    """

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.script, self.seen, self.release = [(200, completion("ok"))], [], threading.Event()
        self.embed = None

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}/v1"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.seen.append((self.path, self.headers.get("authorization"), body))
        script = self.server.script
        status, text = script.pop(0) if len(script) > 1 else script[0]
        if self.server.embed is not None:
            rows = self.server.embed(body["input"])
            text = json.dumps({"data": [{"index": at, "embedding": list(map(float, r))} for at, r in enumerate(rows)]})
        if text == "hang":
            self.server.release.wait(20)
            return
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.end_headers()
        try:
            if text == "drip":
                while not self.server.release.wait(0.02):
                    self.wfile.write(b" ")
                    self.wfile.flush()
            else:
                self.wfile.write(text.encode())
        except OSError:
            self.close_connection = True  # the client has left

    def log_message(self, *args):
        pass


@contextmanager
def serving() -> Iterator[Server]:
    """The server, running."""
    made = Server()
    thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield made
    finally:
        made.release.set()
        made.shutdown()
        thread.join()
        made.server_close()
