"""What goes on beside a run: a progress bar, Ctrl-C, and a note of who started it."""

from __future__ import annotations

import json
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timezone
from importlib.util import find_spec
from types import FrameType

from obolus import _native


def about() -> str:
    """Who runs this, and when: a line of the folder's about.jsonl."""
    date = datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    command = "python " + (sys.argv[0] if sys.argv and sys.argv[0] else "-")
    return json.dumps({"command": command, "obolus": _native.version, "started": date})


@contextmanager
def deferred_interrupt() -> Iterator[list[int]]:
    """Ctrl-C goes into the list, so that a round can end and be saved; a second one is raised at once.

    Elsewhere than in the main thread, and where somebody handles Ctrl-C already, the list stays empty.
    """
    pending: list[int] = []
    usual = signal.default_int_handler
    if threading.current_thread() is not threading.main_thread() or signal.getsignal(signal.SIGINT) is not usual:
        yield pending
        return

    def note(number: int, frame: FrameType | None) -> None:
        if pending:
            usual(number, frame)
        pending.append(number)

    signal.signal(signal.SIGINT, note)
    try:
        yield pending
    finally:
        signal.signal(signal.SIGINT, usual)


@contextmanager
def bar(wanted: bool | None, unit: str) -> Iterator[Callable[[int, int], None] | None]:
    """A progress bar of tqdm's: unless told, where it is installed and a terminal or a notebook shows it."""
    if wanted is None:
        wanted = find_spec("tqdm") is not None and (sys.stderr.isatty() or "ipykernel" in sys.modules)
    if not wanted:
        yield None
        return
    from tqdm.auto import tqdm

    with tqdm(unit=" " + unit) as shown:

        def advance(done: int, total: int) -> None:
            shown.total = total
            shown.update(done - shown.n)

        yield advance
