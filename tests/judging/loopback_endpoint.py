"""A real HTTP server on loopback that speaks the protocol of chat completions, and misbehaves as it is told."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import Any


@dataclass
class Reply:
    """What the server sends back, and how."""

    content: str | None = None
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes | None = None
    after_seconds: float = 0.0
    finish_reason: str = "stop"
    usage: Any = None
    refusal: str | None = None
    cut_short: bool = False

    def bytes(self) -> bytes:
        """The body."""
        if self.body is not None:
            return self.body
        if self.status != 200:
            return json.dumps({"error": {"message": self.content or "no", "type": "error"}}).encode()
        message = {"role": "assistant", "content": self.content, "refusal": self.refusal}
        choice = {"index": 0, "message": message, "finish_reason": self.finish_reason}
        document = {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
        return json.dumps(document | {"usage": self.usage}).encode()


Behaviour = Callable[[dict[str, Any], int], Reply]
"""From a call, and how many came before it, to the reply."""


@dataclass
class Endpoint:
    """A running server; ``calls`` are the bodies that it received, ``raw`` the bytes of whole requests."""

    url: str
    behaviour: Behaviour
    calls: list[dict[str, Any]] = field(default_factory=list)
    raw: list[bytes] = field(default_factory=list)
    at_once: int = 0
    most_at_once: int = 0
    lock: Lock = field(default_factory=Lock)


def says(verdict: Any, confidence: Any = 0.9, tokens: int = 50) -> Reply:
    """A well-formed answer."""
    words = json.dumps({"verdict": verdict, "confidence": confidence, "explanation": "because"})
    usage = {"prompt_tokens": tokens - 10, "completion_tokens": 10, "total_tokens": tokens}
    return Reply(words, usage=usage)


def text_of(call: dict[str, Any]) -> str:
    """All that a call shows."""
    return "\n".join(message["content"] for message in call["messages"])


@contextmanager
def serving(behaviour: Behaviour) -> Iterator[Endpoint]:
    """The endpoint for as long as the block runs."""
    endpoint = Endpoint("", behaviour)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            with endpoint.lock:
                before = len(endpoint.calls)
                endpoint.calls.append(json.loads(body))
                endpoint.raw.append(f"{self.path}\n{self.headers}\n".encode() + body)
                endpoint.at_once += 1
                endpoint.most_at_once = max(endpoint.most_at_once, endpoint.at_once)
            try:
                reply = endpoint.behaviour(endpoint.calls[before], before)
                time.sleep(reply.after_seconds)
                content = reply.bytes()
                self.send_response(reply.status)
                for name, value in {"content-type": "application/json", **reply.headers}.items():
                    self.send_header(name, value)
                self.send_header("content-length", str(len(content)))
                self.end_headers()
                self.wfile.write(content[: len(content) // 2] if reply.cut_short else content)
                self.close_connection = reply.cut_short
            except (BrokenPipeError, ConnectionResetError):
                pass
            finally:
                with endpoint.lock:
                    endpoint.at_once -= 1

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    endpoint.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield endpoint
    finally:
        server.shutdown()
        server.server_close()
