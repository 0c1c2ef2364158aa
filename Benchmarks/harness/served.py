"""Servers that are started once and asked many times: what they take is the processor time of all
their processes."""

import json
import os
import re
import signal
import socket
import subprocess
import time

from harness.measure import Failure, Run, figures


class Server:
    """A program that listens on a port of this machine, with all its children."""

    def __init__(self, name, commands, port, log, environment=None):
        self.name = name
        self.port = port
        self.processes = []
        self.begin = time.monotonic()
        with open(log, "wb") as output:
            for command in commands:
                self.processes.append(subprocess.Popen(
                    [str(word) for word in command], stdin=subprocess.DEVNULL, stdout=output,
                    stderr=output, env={**os.environ, **(environment or {})}))
        self.wait(log)

    def wait(self, log):
        while time.monotonic() < self.begin + 30:
            if any(process.poll() is not None for process in self.processes):
                break
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                time.sleep(0.05)
        self.end()
        with open(log, encoding="utf-8", errors="replace") as text:
            raise Failure(f"{self.name} does not listen: {text.read()[-2000:]}")

    def end(self):
        """Ends all processes. One that starts others does not always end these."""
        family = self.tree()
        for process in self.processes:
            process.terminate()
        for process in self.processes:
            try:
                process.wait(3)
            except subprocess.TimeoutExpired:
                pass
        for one in family:
            try:
                os.kill(one, signal.SIGKILL)
            except OSError:
                pass
        for process in self.processes:
            process.wait()

    def tree(self):
        """The ids of all processes: those that were started and their children."""
        parents = {}
        for name in os.listdir("/proc"):
            if not name.isdigit():
                continue
            try:
                with open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as stat:
                    parents[int(name)] = int(stat.read().rpartition(")")[2].split()[1])
            except OSError:
                pass
        found = {process.pid for process in self.processes}
        while True:
            more = {one for one, parent in parents.items() if parent in found} - found
            if not more:
                return found
            found |= more

    def cpu(self):
        """Seconds of processor time so far, of processes that live."""
        total = 0
        for one in self.tree():
            try:
                # The clock of another process, as clock_getcpuclockid makes its number.
                total += time.clock_gettime(~one << 3 | 2)
            except OSError:
                pass
        return total

    def memory(self):
        """MiB of private memory; mapped files do not count."""
        total = 0
        for one in self.tree():
            try:
                with open(f"/proc/{one}/status", encoding="utf-8") as status:
                    found = re.search(r"RssAnon:\s*(\d+)", status.read())
                    total += int(found.group(1)) if found else 0
            except OSError:
                pass
        return total / 1024


class Asked:
    """A server at one work: it is asked the lines of a file. `before` runs first and does not count."""

    def __init__(self, server, load, requests, count, connections=8, before=lambda: None):
        self.server = server
        self.command = [load, server.port, requests, count, connections]
        self.count = count
        self.before = before

    def once(self):
        self.before()
        before, start = self.server.cpu(), time.monotonic()
        with subprocess.Popen(
            [str(word) for word in self.command], stdout=subprocess.PIPE,
            stderr=subprocess.PIPE) as process:
            memory = 0
            while process.poll() is None:
                memory = max(memory, self.server.memory())
                time.sleep(0.05)
            output, errors = process.communicate()
        if process.returncode:
            raise Failure(f"{self.server.name}: {errors.decode(errors='replace').strip()}")
        told = figures(output)
        cpu = (self.server.cpu() - before) / self.count
        return Run(time.monotonic() - start, cpu, memory, told)


class Listened(Asked):
    """A server whose clients read events while others ask what makes them; what it takes is that of a
    second."""

    def __init__(self, server, load, requests, clients, rate, seconds):
        super().__init__(server, load, requests, seconds)
        self.command = [load, "events", server.port, "/events", clients, requests, rate, seconds]
        self.expected = clients * rate * seconds

    def once(self):
        found = super().once()
        if found.figures["delivered"] < 0.99 * self.expected:
            raise Failure(f"{self.server.name}: {found.figures} of {self.expected} events")
        return found


def fetch(server, line):
    """The body of the answer to one line of requests."""
    method, target = line.split()[:2]
    with socket.create_connection(("127.0.0.1", server.port), 60) as one:
        head = f"{method} {target} HTTP/1.0\r\nHost: 127.0.0.1:{server.port}\r\n\r\n"
        one.sendall(head.encode())
        answer = b""
        while part := one.recv(1 << 16):
            answer += part
    head, _, body = answer.partition(b"\r\n\r\n")
    # An empty tile has no body.
    if b" 200" not in head[:20] and b" 204" not in head[:20]:
        raise Failure(f"{server.name}: {line}: {head[:200]}")
    return body


def change(server, target, properties):
    """Changes a feature, so that no tile of its layer that the server keeps is true any longer."""
    body = json.dumps({"properties": properties})
    with socket.create_connection(("127.0.0.1", server.port), 60) as one:
        one.sendall(
            f"PATCH {target} HTTP/1.0\r\nHost: 127.0.0.1:{server.port}\r\n"
            f"Content-Type: application/merge-patch+json\r\nContent-Length: {len(body)}\r\n\r\n{body}"
            .encode())
        answer = one.recv(1 << 16)
    if not re.match(rb"HTTP/1.. 20", answer):
        raise Failure(f"{server.name}: PATCH {target}: {answer[:200]}")


def feature_count(body):
    """How many features a GeoJSON document or a vector tile has."""
    if body[:1] in (b"{", b"\n", b" "):
        found = json.loads(body)
        return len(found["features"]) if "features" in found else 1
    return sum(1 for layer in fields(body, 3) for _ in fields(layer, 2))


def fields(message, wanted):
    """The values with that number in a message of protocol buffers, of those that have a length."""
    place = 0

    def varint():
        nonlocal place
        value = shift = 0
        while True:
            byte = message[place]
            place += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while place < len(message):
        key = varint()
        if key & 7 == 2:
            length = varint()
            if key >> 3 == wanted:
                yield message[place:place + length]
            place += length
        elif key & 7 == 0:
            varint()
        else:
            place += 8 if key & 7 == 1 else 4
