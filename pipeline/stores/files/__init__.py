"""Files of any store: bytes that are on the disk, and exchanges that lose nobody's write."""
