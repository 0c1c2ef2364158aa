"""What a comparison is made of: works, the commands that do them, and bars."""

import os
import shutil
from dataclasses import dataclass, field

from harness.measure import Failure, in_turns, run


@dataclass
class Contender:
    """Fieldpack or a peer at one work."""

    command: list
    # Files that must not be there before a run.
    makes: list = field(default_factory=list)
    # Pairs (from, to) that are copied before a run.
    copies: list = field(default_factory=list)
    # Commands that are run before, and not measured.
    before: list = field(default_factory=list)
    environment: dict = field(default_factory=dict)
    # How often a run may fail; only a peer that is known to crash now and then gets more than one.
    attempts: int = 1
    # What the command ends with where it did its work.
    status: int = 0

    def once(self):
        for _ in range(1, self.attempts):
            try:
                return self.attempt()
            except Failure:
                pass
        return self.attempt()

    def attempt(self):
        self.prepare()
        return run(self.command, self.environment, self.status)

    def prepare(self):
        for path in self.makes:
            remove(path)
        for source, target in self.copies:
            remove(target)
            shutil.copyfile(source, target)
        for command in self.before:
            run(command)


@dataclass
class Bar:
    """How many times as fast as `peer` Fieldpack has to be, and should be."""

    peer: str
    required: float
    aim: float = 0


@dataclass
class Work:
    """One line of the table."""

    title: str
    # Name -> Contender; "Fieldpack" is among them.
    contenders: dict
    bars: list
    # "wall" for the whole process, "seconds" or "p50" for what the program says of itself.
    figure: str = "wall"
    # Raises Failure where results differ; called after the last run with the series.
    check: object = None
    # What the figure counts, where it is no time.
    unit: str = ""


@dataclass
class Line:
    """A work that was measured."""

    work: Work
    series: dict

    def figure(self, name):
        return self.series[name].median(self.work.figure)

    def ratio(self, peer):
        return self.figure(peer) / self.figure("Fieldpack")


def measure(work, rounds):
    # The files have just been made or read; what takes microseconds needs its caches warm, too.
    warmup = 0 if work.figure == "wall" or rounds == 1 else 1
    series = in_turns(
        {name: contender.once for name, contender in work.contenders.items()}, rounds, warmup)
    if work.check:
        work.check(series)
    return Line(work, series)


def remove(path):
    for name in [path, f"{path}-journal", f"{path}-wal", f"{path}-shm"]:
        if os.path.exists(name):
            os.remove(name)


def same_figures(*names):
    """A check that count and checksum are the same with every contender that tells them."""

    def check(series):
        told = {}
        for contender, runs in series.items():
            told[contender] = tuple(str(runs.figures.get(name)) for name in names)
        known = {name: value for name, value in told.items() if "None" not in value}
        if len(set(known.values())) > 1 or len(known) < 1:
            raise Failure(f"the results differ: {told}")

    return check
