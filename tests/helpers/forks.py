"""The program in processes that need not import everything anew: this server forks one for each."""

import atexit
import contextlib
import functools
import gc
import importlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import IO, Any

LIMIT_S = 300  # before the system ends a call with SIGALRM
PROGRAM = "mem0_dream.pipeline.cli.main"
OF_FILES = (
    "faiss", "filelock", "markdown_it", "pathspec", "psutil", "yaml", "mem0_dream.models.keywords",
    "mem0_dream.models.registry", "mem0_dream.pipeline.cli.terminal",
    "mem0_dream.pipeline.consolidation", "mem0_dream.pipeline.kinds.graph",
    "mem0_dream.pipeline.reporting.health", "mem0_dream.pipeline.reporting.graph",
    "mem0_dream.pipeline.reporting.markdown", "mem0_dream.pipeline.reporting.report",
)  # fmt: skip
"""What a process imports on a graph or on Markdown files."""
OF_MEM0 = (
    "faiss", "mem0", "mem0.embeddings.openai", "mem0.llms.openai", "openai.resources.embeddings",
    "mem0_dream.pipeline.engine", "mem0_dream.pipeline.stores.mem0.config",
    "mem0_dream.pipeline.reporting.report", "mem0_dream.models.registry", "mem0_dream.models.keywords",
    "mem0_dream.pipeline.planning.plan_file",
)  # fmt: skip
"""What it imports on any mem0 store."""


@dataclass(frozen=True)
class Call:
    arguments: tuple[str, ...]
    environment: Mapping[str, str]
    answers: str = ""  # what is typed
    folder: str | None = None  # where it runs; else where the tests do
    imports: tuple[str, ...] = ()  # what the server imports before the fork, so that it is paid once
    function: str = "forks:command_line"  # what the child does, with this call
    options: Mapping[str, Any] = field(default_factory=dict)  # more for that function


@dataclass(frozen=True)
class Answer:
    """What a process printed, and how it ended; the code is negative where a signal ended it."""

    out: str
    err: str
    code: int

    @property
    def lines(self) -> list[str]:
        return self.out.splitlines()


def run(call: Call) -> Answer:
    return Answer(**_asked(_as_row(call)))


def _as_row(call: Call) -> dict[str, Any]:
    return asdict(replace(call, environment=dict(call.environment)))


def _asked(row: Mapping[str, Any]) -> dict[str, Any]:
    server = _server()
    assert server.stdin is not None
    assert server.stdout is not None
    server.stdin.write(json.dumps(row) + "\n")
    server.stdin.flush()
    told = server.stdout.readline()
    assert told, "the server of the tests' processes has ended"
    return dict(json.loads(told))


def run_all(calls: Iterable[Call]) -> list[Answer]:
    return [run(call) for call in calls]


@dataclass(frozen=True)
class Started:
    """A process that runs beside the test and beside others."""

    pid: int

    def ended(self) -> Answer:
        """Wait until it ends."""
        return Answer(**_asked({"ended": self.pid}))


def start(call: Call) -> Started:
    return Started(**_asked({**_as_row(call), "beside": True}))


def command_line(call: Call) -> None:
    from mem0_dream.pipeline.cli.main import main

    main(list(call.arguments), prog_name="mem0-dream")


def demonstration(call: Call) -> None:
    """A demonstration whose commands are forked from it in turn."""
    module: Any = importlib.import_module(call.options["module"])
    module.dream = _dream
    sys.exit(module.main(list(call.arguments)))


def _dream(*arguments: str) -> None:
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            command_line(Call(arguments, {}))
        except SystemExit as exit_:
            code = int(exit_.code or 0)
        finally:
            sys.stdout.flush()
            os._exit(code)
    _, status = os.waitpid(child, 0)
    if status:
        raise subprocess.CalledProcessError(os.waitstatus_to_exitcode(status), "mem0-dream")


@functools.cache
def _server() -> subprocess.Popen[str]:
    own = {"MEM0_TELEMETRY": "False", "OMP_NUM_THREADS": "1", "PYTHONUTF8": "1"}
    server = subprocess.Popen(
        [sys.executable, __file__],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        env=os.environ | own,
    )
    atexit.register(server.communicate)  # its input ends, and so does it
    return server


def _serve() -> None:
    """Answer calls until the input ends; the children's own streams are others."""
    with os.fdopen(os.dup(0), encoding="utf-8") as asked, os.fdopen(os.dup(1), "w", encoding="utf-8") as told:
        running: dict[int, tuple[contextlib.ExitStack, list[IO[bytes]]]] = {}
        for line in asked:
            row = json.loads(line)
            beside, child = row.pop("beside", False), row.pop("ended", 0)
            if not child:
                call = Call(**row)
                for name in (PROGRAM, *call.imports):
                    importlib.import_module(name)
                gc.freeze()  # else each child would look through everything at its end
                stack = contextlib.ExitStack()
                opened = (tempfile.TemporaryFile() for _ in range(3))  # noqa: SIM115  (until the child has ended)
                streams: list[IO[bytes]] = [stack.enter_context(each) for each in opened]
                child = os.fork()
                if child == 0:
                    _become(call, streams)
                    return
                running[child] = stack, streams
            told.write(json.dumps({"pid": child} if beside else _ended(child, *running.pop(child))) + "\n")
            told.flush()


def _ended(child: int, stack: contextlib.ExitStack, streams: Sequence[IO[bytes]]) -> dict[str, Any]:
    with stack:
        _, status = os.waitpid(child, 0)
        out, err = (_read(stream) for stream in streams[1:])
        return {"out": out, "err": err, "code": os.waitstatus_to_exitcode(status)}


def _become(call: Call, streams: Sequence[IO[bytes]]) -> None:
    streams[0].write(call.answers.encode())
    streams[0].seek(0)
    for number, stream in enumerate(streams):
        os.dup2(stream.fileno(), number)
    os.environ.clear()
    os.environ.update(call.environment)
    if call.environment.get("PYTHONWARNINGS") == "ignore":
        warnings.simplefilter("ignore")
    if call.folder is not None:
        os.chdir(call.folder)
    signal.alarm(LIMIT_S)
    module, _, name = call.function.partition(":")
    getattr(importlib.import_module(module), name)(call)


def _read(stream: IO[bytes]) -> str:
    stream.seek(0)
    return stream.read().decode()


if __name__ == "__main__":
    _serve()
