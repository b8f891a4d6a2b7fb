"""What the tests of placed writes share: a store of which a pass removes a copy and what says nothing."""

from datetime import UTC, datetime

from mem0_dream.settings import Settings

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
SETTINGS = Settings(scorer="keywords", max_delete=1.0, min_delete=0, assume_unread=True)
TEXTS = {
    "one": ("Deploys the shop to staging on Tuesdays", 40),
    "other": ("Deploys the shop to staging on Tuesdays", 10),
    "bug": ("Fixed bug", 10),
    "bystander": ("The billing service is written in Rust.", 15),
}
WRITTEN = "Rides a red bicycle to work."
