#!/bin/sh
# A hook for the end of a project or session: consolidates if it is due, and never fails the session.
# Usage: end-of-project.sh [memory.jsonl [core-memory.json]]
set -u
file="${1:-$HOME/.memory/memory.jsonl}"
core="${2:-$(dirname "$file")/core-memory.json}"
[ -f "$file" ] || exit 0
mem0-dream graph "$file" --core "$core" --if-due --auto
code=$?
[ "$code" -eq 0 ] || echo "mem0-dream: the consolidation ended with code $code; the memory is unharmed." >&2
exit 0
