"""Files of any store: durable writes, and exchanges that never overwrite another program's change."""
