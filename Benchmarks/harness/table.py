"""One table in Markdown, printed line by line as works are done."""

from harness import machine


class Table:
    def __init__(self, setup, rounds):
        self.setup = setup
        self.rounds = rounds

    def head(self):
        versions = ", ".join(f"{name} {text}" for name, text in self.setup.versions())
        print(f"{machine.description()}. {versions}.")
        print(f"Median of {self.rounds}, in turns, at {self.setup.scale:g} of the standard size.")
        print()
        print("| work | Fieldpack | MiB | peer | time | MiB | ratio | bar | |")
        print("|---|---:|---:|---|---:|---:|---:|---:|---|", flush=True)

    def line(self, line):
        """The first row of a work names it and Fieldpack's figures; a row for each further peer."""
        peers = [name for name in line.series if name != "Fieldpack"]
        ours = line.series["Fieldpack"]
        cells = [line.work.title, self.time(line, "Fieldpack"), f"{ours.memory:.0f}"]
        if not peers:
            print(f"| {' | '.join(cells)} | | | | | | |", flush=True)
        for peer in peers:
            bar = next((one for one in line.work.bars if one.peer == peer), None)
            # On small sets start-up is all there is to see.
            bar = bar if self.setup.scale >= 0.1 else None
            ratio = line.ratio(peer)
            verdict = self.verdict(bar, ratio)
            wanted = f"≥ {bar.required or bar.aim:.2g}" if bar else ""
            cells += [
                peer, self.time(line, peer), f"{line.series[peer].memory:.0f}",
                f"{ratio:.2f} ×", wanted, verdict]
            print(f"| {' | '.join(cells)} |", flush=True)
            cells = ["", "", ""]
        latest = ours.figures
        if self.setup.scale >= 0.1 and latest.get("p50") != latest.get("p99"):
            self.tails(line, peers)

    @staticmethod
    def tails(line, peers):
        """What the slowest of a hundred queries take, and how many times the median that is: for
        peers, too, because pages that nobody has touched before take everyone the same time."""
        def cells(name):
            p99 = line.series[name].median("p99")
            return f"{p99:.1f} µs, {p99 / line.series[name].median('p50'):.2f} × p50"

        ours = line.series["Fieldpack"]
        share = ours.median("p99") / ours.median("p50")
        first, verdict = cells("Fieldpack"), "" if share <= 2 else "missed"
        for peer in peers or [""]:
            theirs = cells(peer) if peer else ""
            ratio = f"{line.series[peer].median('p99') / ours.median('p99'):.2f} ×" if peer else ""
            print(
                f"| {'… its p99' if first else ''} | {first} | | {peer} | {theirs} | | {ratio} "
                f"| {'≤ 2 × p50' if first else ''} | {verdict} |", flush=True)
            first, verdict = "", ""

    @staticmethod
    def verdict(bar, ratio):
        if not bar:
            return ""
        if ratio < bar.required:
            return "missed"
        if bar.aim and ratio >= bar.aim:
            return "aim"
        return "met" if bar.required else ""

    @staticmethod
    def time(line, name):
        value = line.figure(name)
        if line.work.unit:
            return f"{value:.0f} {line.work.unit}"
        if line.work.figure == "p50":
            return f"{value:.1f} µs"
        if value < 0.0001:
            return f"{value * 1e6:.1f} µs"
        if value < 0.001:
            return f"{value * 1000:.3f} ms"
        return f"{value * 1000:.1f} ms" if value < 0.1 else f"{value:.2f} s"

    @staticmethod
    def limits(found):
        print()
        print("What the machine gives, called from C:")
        print()
        for name, text in found:
            print(f"- {name}: {text}")
