"""A stand-in for a model: it speaks the protocol of an OpenAI-compatible endpoint on this machine and knows some words.

    python stand_in_model.py calib run --project .    # runs a command with the stand-in as its endpoint
    python stand_in_model.py                          # serves until it is interrupted

What it answers is no evidence about any model. To measure one, name it in `studies/`, set OPENAI_API_KEY (and
OPENAI_BASE_URL, where it is not OpenAI's), and leave this file out.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

DONE = re.compile(
    r"\b(was|were|is|has been|have|done)\b.*\b(refunded|corrected|unlocked|changed|sent|delivered)\b|Done:"
)
OPEN = re.compile(
    r"\b(please|could you|passed this on|looking into|come back to you|do not know|should)\b", re.IGNORECASE
)


def verdict_on(reply: str) -> dict[str, Any]:
    """What the stand-in says of a reply."""
    if OPEN.search(reply):
        return {"verdict": "open", "confidence": 0.8, "explanation": "something is left to be done"}
    if DONE.search(reply):
        return {"verdict": "resolved", "confidence": 0.9, "explanation": "it says what was done"}
    return {"verdict": "resolved", "confidence": 0.5, "explanation": "nothing seems to be left"}


class StandIn(BaseHTTPRequestHandler):
    """Answers `POST …/chat/completions`."""

    def do_POST(self) -> None:
        call = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        prompt = call["messages"][-1]["content"]
        answer = json.dumps(verdict_on(prompt.rpartition("Reply: ")[2].partition("\n")[0]))
        asked, said = len(prompt.split()), len(answer.split())
        document = {
            "id": "stand-in",
            "object": "chat.completion",
            "created": 0,
            "model": call["model"],
            "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": answer}}],
            "usage": {"prompt_tokens": asked, "completion_tokens": said, "total_tokens": asked + said},
        }
        body = json.dumps(document).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Say nothing of each call."""


def main(command: list[str]) -> int:
    """Serve; with a command, only for as long as it runs."""
    with ThreadingHTTPServer(("127.0.0.1", 0), StandIn) as server:
        address = f"http://127.0.0.1:{server.server_port}/v1"
        sys.stderr.write(f"A stand-in model answers at {address}: no real model is asked.\n")
        if not command:
            sys.stderr.write(f"export OPENAI_BASE_URL={address} OPENAI_API_KEY=stand-in\n")
            server.serve_forever()
        threading.Thread(target=server.serve_forever, daemon=True).start()
        environment = os.environ | {"OPENAI_BASE_URL": address, "OPENAI_API_KEY": "stand-in"}
        code = subprocess.run(command, env=environment).returncode
        server.shutdown()
        return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
