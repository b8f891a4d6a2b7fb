"""Another program that adds lines to a file: it reads all, changes, and saves all, without a lock.

Arguments: the file, "renames" or "writes in place", and for how many seconds. It prints how many lines it added.
"""

import sys
import time
from pathlib import Path


def main() -> None:
    """Add lines, one after the other, until the time is over."""
    path, way, until = Path(sys.argv[1]), sys.argv[2], time.monotonic() + float(sys.argv[3])
    count = 0
    while time.monotonic() < until:
        lines = [*path.read_text().splitlines(), f"theirs {count}"]
        time.sleep(count % 5 / 5000)
        if way == "renames":
            new = path.with_name("theirs.tmp")
            new.write_text("\n".join(lines))
            new.replace(path)
        else:
            path.write_text("\n".join(lines))
        count += 1
        time.sleep(count % 3 / 5000)
    print(count)


if __name__ == "__main__":
    main()
