"""What a request costs: processor time of all processes of each server, for the same answers."""

import itertools
import math
import os
import random
import shutil

from harness import serve_peers
from harness.measure import Failure, Run
from harness.served import Asked, Listened, Server, change, feature_count, fetch
from harness.work import Bar, Work, remove

PORTS = {"Fieldpack": 18085, "C": 18086, "MapServer": 18087, "QGIS Server": 18088, "tipg": 18089}


def serve(setup):
    """Starts all servers, each on a copy of its own of one file, and yields the works."""
    setup.build_server_peers()
    base = data(setup)
    servers = {}
    try:
        file = copy(setup, base, "served.gpkg")
        command = [
            setup.tool, "serve", file, "--listen", f"127.0.0.1:{PORTS['Fieldpack']}",
            "--writable", "--quiet"]
        servers["Fieldpack"] = Server(
            "Fieldpack", [command], PORTS["Fieldpack"], setup.out("served.log"))
        limit = [setup.serve, copy(setup, base, "served-c.gpkg"), PORTS["C"]]
        servers["C"] = Server("C", [limit], PORTS["C"], setup.out("served-c.log"))
        if setup.with_peers:
            servers |= serve_peers.start(setup, PORTS, lambda name: copy(setup, base, name))
        yield idle(servers)
        yield from reading(setup, servers)
        yield from editing(setup, servers)
        yield listening(setup, servers)
    finally:
        for server in servers.values():
            server.end()


def data(setup):
    """Points and polygons in one file."""
    path = setup.path("serve.gpkg")
    if not os.path.exists(path):
        for name in ["points", "polys"]:
            setup.add_file(f"{name}.geojson", "serve.gpkg")
    return path


def copy(setup, base, name):
    target = setup.out(name)
    remove(target)
    shutil.copyfile(base, target)
    return target


class Sitting:
    """A server that nobody asks anything."""

    def __init__(self, server):
        self.server = server

    def once(self):
        memory = self.server.memory()
        return Run(memory, 0, memory, {})


def idle(servers):
    """Private memory; what a line has in the column MiB is that under load."""
    contenders = {name: Sitting(server) for name, server in servers.items()}
    return Work("Private memory, idle", contenders, [], unit="MiB", figure="wall")


MILLION = 1_000_000
PEERS = ["MapServer", "QGIS Server", "tipg"]


def reading(setup, servers):
    """Of each work: title, requests at full size, connections, figure, and the bars: how many times the
    cost of C Fieldpack's should be at most, and how many times its own that of a peer has to be."""
    lines = Requests(setup)
    works = [
        ("A box of 100 points as GeoJSON", lines.boxes, 2_000, 8, "cpu", (1.3, 8)),
        ("One feature", lines.items, 20_000, 8, "cpu", (1.6, 15)),
        ("A document that is kept", lines.document, 20_000, 8, "cpu", (1.4, 8)),
        ("A page of 10,000 features", lines.pages, 60, 8, "cpu", (1.3, 5)),
        ("… to its last byte, one client", lines.pages, 60, 1, "last", (1.3, 5)),
        ("… to its first byte, one client", lines.pages, 60, 1, "first", None),
        ("100 features after 900,000", lines.deep, 1_000, 8, "cpu", (1.3, 6)),
        ("Tile of points, zoom 12, all attributes", lines.tiles("points", 12), 2_000, 8, "cpu",
         (1.4, 5)),
        ("Tile of polygons, zoom 12", lines.tiles("polys", 12), 2_000, 8, "cpu", (1.4, 3)),
        ("Tile of points, zoom 10", lines.tiles("points", 10), 400, 8, "cpu", (1.4, 3.5)),
        ("Tile of points, zoom 8", lines.tiles("points", 8), 60, 8, "cpu", (1.4, 3.5)),
    ]
    for title, make, count, connections, figure, bar in works:
        yield work(
            setup, servers, title, make, max(8, int(count * min(1, setup.scale * 100))),
            connections, figure,
            [Bar("C", 0, 1 / bar[0]), *(Bar(one, bar[1]) for one in PEERS)] if bar else [])


def work(setup, servers, title, make, count, connections, figure, bars):
    contenders, samples = {}, {}
    for name, server in servers.items():
        lines = make(serve_peers.ADDRESSES[name])
        if not lines:
            continue
        path = setup.out(f"requests-{len(samples)}.txt")
        with open(path, "w", encoding="ascii") as file:
            file.writelines(line + "\n" for line in lines)
        # A peer that takes seconds for an answer is asked less often.
        times = max(2, count // 20) if name in PEERS else count
        before = tile_changes(server, lines[0]) if name == "Fieldpack" else lambda: None
        contenders[name] = Asked(server, setup.load, path, times, connections, before)
        samples[name] = lines[0]

    def check(_):
        if not samples["C"].startswith("GET /coll"):
            return
        counts = {
            name: feature_count(fetch(servers[name], line)) for name, line in samples.items()}
        # MapServer cuts a tile without the buffer that the others have.
        allowed = 0.1 * counts["C"] if "/tiles/" in samples["C"] else 0
        if any(abs(count - counts["C"]) > allowed for count in counts.values()):
            raise Failure(f"the answers have other numbers of features: {counts}")

    return Work(title, contenders, bars, figure=figure, check=check)


def tile_changes(server, line):
    """What makes each tile be drawn in each round, by a server that keeps tiles until their layer changes."""
    if "/tiles/" not in line:
        return lambda: None
    layer = line.split("/")[2]
    column = {"points": "num", "polys": "pid"}[layer]
    numbers = itertools.count(-1, -1)
    return lambda: change(server, f"/collections/{layer}/items/1", {column: next(numbers)})


class Requests:
    """The lines that servers are asked, which they have at addresses of their own."""

    def __init__(self, setup):
        self.count = setup.count(MILLION)
        with open(setup.path("boxes-points.txt"), encoding="ascii") as file:
            self.sides = [line.split() for line in file][:2_000]

    def boxes(self, at):
        return at.each(
            [f"items?bbox={','.join(box)}&limit=1000" for box in self.sides], "points")

    def items(self, at):
        ids = random.Random(1)
        return at.each(
            [f"items/{at.id(ids.randint(1, self.count))}" for _ in range(2_000)], "points")

    def document(self, at):
        return at.document()

    def pages(self, at):
        size = min(10_000, self.count // 10)
        return at.pages(size, [size * (page % 9) for page in range(90)])

    def deep(self, at):
        first = self.count * 9 // 10
        return at.pages(100, [first + page * 100 for page in range(max(1, self.count // 2_000))])

    def tiles(self, layer, zoom):
        def lines(at):
            found = {}
            for west, south, east, north in (map(float, box) for box in self.sides):
                size = 1 << zoom
                latitude = math.radians((south + north) / 2)
                row = (1 - math.asinh(math.tan(latitude)) / math.pi) / 2 * size
                found[int(((west + east) / 2 + 180) / 360 * size), int(row)] = True
            return at.tiles(layer, zoom, list(found))

        return lines


def editing(setup, servers):
    """Durable changes: one transaction a request."""
    both = {name: servers[name] for name in ["Fieldpack", "C"]}
    chance = random.Random(2)
    merge, json = "application/merge-patch+json", "application/geo+json"
    ids = [chance.randint(1, setup.count(MILLION)) for _ in range(1_000)]
    # Every line changes its feature, in each round: SQLite writes nothing where a value stays as it is.
    one = [
        f"PATCH /collections/points/items/{id} {merge} "
        f'{{"properties":{{"num":{sign * number}}}}}' for sign in [-1, 1]
        for number, id in enumerate(ids, 1)]
    batch = []
    for number in range(50):
        features = ",".join(
            '{"type":"Feature","geometry":{"type":"Point","coordinates":'
            f"[{5 + 20 * chance.random():.7f},{45 + 10 * chance.random():.7f}]}},"
            f'"properties":{{"num":{number},"name":"new"}}}}' for _ in range(100))
        batch.append(
            f"POST /collections/points/items {json} "
            f'{{"type":"FeatureCollection","features":[{features}]}}')
    for title, lines, count in [
        ("One feature changed, durably", one, 2_000),
        ("100 features added at once, durably", batch, 50),
    ]:
        yield work(
            setup, both, title, lambda _, lines=lines: lines, count, 8, "cpu",
            [Bar("C", 1 / 2, 1 / 1.3)])


def listening(setup, servers):
    """Events to many clients: Fieldpack's are of features that are added, durably; those of C are as long,
    and stored nowhere."""
    clients = max(10, int(1_000 * min(1, setup.scale * 10)))
    posts = {
        "Fieldpack": 'POST /collections/points/items application/geo+json {"type":"Feature",'
        '"geometry":{"type":"Point","coordinates":[13.9,51.9]},"properties":{"num":7,"name":"new"}}',
        "C": "POST /fixes application/json " + '{"fix":"%s"}' % (EVENT_SIZE * "x"),
    }
    contenders = {}
    for name, post in posts.items():
        path = setup.out(f"events-{name}.txt")
        with open(path, "w", encoding="ascii") as file:
            file.write(post + "\n")
        contenders[name] = Listened(servers[name], setup.load, path, clients, 100, 5)
    return Work(
        f"A second of 100 events to {clients:,} clients", contenders, [Bar("C", 1 / 2, 1 / 1.2)],
        figure="cpu")


EVENT_SIZE = 500
