"""Runs commands in turns and takes time, processor time and private memory of each."""

import json
import os
import statistics
import subprocess
import threading
import time
from dataclasses import dataclass, field


class Failure(Exception):
    """A command that did not do its work."""


@dataclass
class Run:
    """One run of one command."""

    wall: float
    cpu: float
    memory: float  # MiB, private
    figures: dict  # what the command printed of itself


@dataclass
class Series:
    """All counted runs of one command."""

    runs: list = field(default_factory=list)

    def median(self, name):
        """The median of a figure: wall, cpu, or one the command printed."""
        values = [getattr(run, name, None) or run.figures.get(name) for run in self.runs]
        return statistics.median(values)

    @property
    def memory(self):
        return max(run.memory for run in self.runs)

    @property
    def figures(self):
        return self.runs[-1].figures


class MemoryWatch(threading.Thread):
    """Looks at a process's private memory every 5 ms; mapped files do not count."""

    def __init__(self, process_id):
        super().__init__(daemon=True)
        self.path = f"/proc/{process_id}/status"
        self.peak = 0
        self.done = threading.Event()

    def run(self):
        while not self.done.wait(0.005):
            try:
                with open(self.path, encoding="ascii") as status:
                    for line in status:
                        if line.startswith("RssAnon"):
                            self.peak = max(self.peak, int(line.split()[1]))
                            break
            except OSError:
                return

    def end(self):
        self.done.set()
        self.join()
        return self.peak / 1024


def run(command, environment=None, expected=0):
    """Runs one command to its end; a list of words, nothing is given a shell.

    expected: the status that the command ends with where it did its work.
    """
    start = time.monotonic()
    with subprocess.Popen(
        [str(word) for word in command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, **(environment or {})},
    ) as process:
        watch = MemoryWatch(process.pid)
        watch.start()
        errors = []
        reader = threading.Thread(target=lambda: errors.append(process.stderr.read()))
        reader.start()
        output = process.stdout.read()
        reader.join()
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.monotonic() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        memory = watch.end()
    if process.returncode != expected:
        text = errors[0].decode(errors="replace").strip()
        raise Failure(f"{' '.join(map(str, command))}: status {process.returncode}: {text}")
    return Run(wall, usage.ru_utime + usage.ru_stime, memory, figures(output))


def figures(output):
    """The JSON object on the last line, where there is one."""
    lines = output.decode(errors="replace").strip().splitlines()
    try:
        found = json.loads(lines[-1]) if lines else {}
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def in_turns(commands, rounds, warmup=1):
    """Runs every command once a round: A B C A B C. `commands`: name -> function giving a Run."""
    series = {name: Series() for name in commands}
    for turn in range(warmup + rounds):
        for name, once in commands.items():
            result = once()
            if turn >= warmup:
                series[name].runs.append(result)
    return series
