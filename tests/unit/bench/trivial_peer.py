"""A peer for the tests of the protocol: keeps the newest messages, and misbehaves when its budget says so."""

from __future__ import annotations

import os
import time

from bench.peers.contract import Given, Message

PRINTS, RAISES, DIES, SLEEPS, WORKS, SPINS = 1, 2, 3, 4, 5, 6


class Newest:
    """The head and the newest messages that fit; one message is rewritten."""

    def __init__(self, given: Given) -> None:
        self.given = given
        self.spent = 0

    def fit(self, messages: list[Message]) -> list[Message]:
        self.spent += 7
        if self.given.budget == PRINTS:
            print("this must not reach the protocol")
        elif self.given.budget == RAISES:
            raise ValueError("not today \ud800")
        elif self.given.budget == DIES:
            os.write(2, b"last words")
            os._exit(3)
        elif self.given.budget == SLEEPS:
            time.sleep(600)
        elif self.given.budget == WORKS:
            until = time.process_time() + 0.3
            while time.process_time() < until:
                pass
        elif self.given.budget == SPINS:
            while True:
                pass
        head, rest = messages[: self.given.head], messages[self.given.head :]
        room = self.given.budget - self.given.head_tokens
        kept: list[Message] = []
        for message in reversed(rest):
            room -= self.given.counter.message(message)
            if room < 0:
                break
            kept.insert(0, message)
        return [*head, *kept, {"role": "user", "content": f"{len(rest) - len(kept)} left out"}]


SETTINGS = {"default": Newest, "fair": Newest}
