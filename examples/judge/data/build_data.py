"""Writes the made-up requests, replies and labels of this example, always the same: `python build_data.py`."""

from __future__ import annotations

import csv
import random
from collections.abc import Iterator
from pathlib import Path

ITEMS = 600
FOLDER = Path(__file__).parent / "helpdesk-made-up"
PEOPLE = {"ada": 0.03, "ben": 0.05}
"""Each person, and how often a clear case slips."""
REQUESTS = {
    "billing": [
        "I was charged twice for order {number}.",
        "Invoice {number} shows the wrong address.",
        "When do I get my money back for order {number}?",
        "Please cancel my subscription {number}.",
    ],
    "login": [
        "I cannot sign in to account {number} any more.",
        "The code for account {number} never arrives.",
        "Account {number} is locked, and I do not know why.",
        "How do I change the e-mail address of account {number}?",
    ],
    "shipping": [
        "Parcel {number} was due on {day}.",
        "Parcel {number} came with a broken lid.",
        "Can parcel {number} go to my neighbour?",
        "Where is parcel {number}?",
    ],
}
# The share of people who call the reply resolved, by the rubric.
REPLIES = {
    "billing": [
        ("The second charge of order {number} was refunded on {day}; you will find it on your statement.", 1.0),
        ("I have corrected it and sent you the new document. Nothing else is needed.", 1.0),
        ("Your subscription {number} ends on {day}, and nothing more will be charged.", 1.0),
        ("Order {number} was opened, so by our terms there is no refund. I am sorry.", 0.7),
        ("I have passed this on to our accounts team, who will write to you.", 0.0),
        ("Could you send us a picture of the statement?", 0.0),
        ("Refunds usually take some days, so please wait until {day} and write again if nothing has come.", 0.1),
        ("The refund should be on its way.", 0.5),
    ],
    "login": [
        ("I have unlocked account {number}; you can sign in again.", 1.0),
        ("The address was changed on {day}, and I see that you have signed in since.", 1.0),
        ("Your new code was sent by text message and has been used.", 1.0),
        ("Please try another browser, and tell us if it helps.", 0.0),
        ("Our engineers are looking into it.", 0.0),
        ("Account {number} was closed at your own request on {day}.", 0.7),
        ("Open the settings, choose `e-mail`, and confirm the message that you get.", 0.6),
        ("It works again for most people, so it should for you.", 0.3),
    ],
    "shipping": [
        ("Parcel {number} was delivered on {day} and signed for at your door.", 1.0),
        ("A new lid was sent today, and you may keep the other.", 0.9),
        ("Done: your neighbour gets parcel {number} on {day}.", 1.0),
        ("The carrier does not deliver to neighbours; it stays at the shop until {day}.", 0.7),
        ("I have asked the carrier and will come back to you.", 0.0),
        ("Please ask the carrier yourself with the number {number}.", 0.1),
        ("It is late, and we do not know why.", 0.0),
        ("It left our warehouse on {day} and should arrive soon.", 0.4),
    ],
}
COURTESY = ["", "", "Thank you for writing to us.", "I am sorry for the trouble.", "We are glad that you asked."]
DAYS = ["2 March", "5 March", "9 March", "14 March", "21 March", "28 March"]


def items(rng: random.Random) -> Iterator[tuple[dict[str, str | int], float]]:
    """Each item, with the share of people who would call it resolved."""
    for number in range(1, ITEMS + 1):
        topic = rng.choice(list(REQUESTS))
        reply, resolved = rng.choice(REPLIES[topic])
        place = {"number": str(rng.randrange(10_000, 99_999)), "day": rng.choice(DAYS)}
        said = f"{rng.choice(COURTESY)} {reply.format(**place)}".strip()
        yield (
            {
                "item_id": f"ticket-{number:03d}",
                "stratum": topic,
                "request": rng.choice(REQUESTS[topic]).format(**place),
                "reply": said,
                "reply_words": len(said.split()),
            },
            resolved,
        )


def labels(rng: random.Random, resolved: float) -> Iterator[tuple[str, str]]:
    """What each person says of an item."""
    for person, slip in PEOPLE.items():
        said = rng.random() < resolved
        yield person, "resolved" if said != (rng.random() < slip) else "open"


def main() -> None:
    """Write both tables."""
    rng = random.Random(20)
    FOLDER.mkdir(exist_ok=True)
    made = list(items(rng))
    with (FOLDER / "items.csv").open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, list(made[0][0]), lineterminator="\n")
        table.writeheader()
        table.writerows(item for item, _ in made)
    with (FOLDER / "annotations.csv").open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["item_id", "annotator_id", "value", "rubric_version"])
        for item, resolved in made:
            rows.writerows([item["item_id"], person, value, "1"] for person, value in labels(rng, resolved))


if __name__ == "__main__":
    main()
