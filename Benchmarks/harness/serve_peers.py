"""The servers that Fieldpack is compared with, as their documentation sets them up, and the addresses
at which each has the same things."""

import os
import shutil

from harness import tipg
from harness.measure import Failure, run
from harness.served import Server
from harness.setup import say


class Features:
    """Addresses of OGC API Features and Tiles, as Fieldpack and the C server have them."""

    def __init__(self, prefix="", extra="", keyset=True):
        self.prefix = prefix
        self.extra = extra
        self.keyset = keyset

    def id(self, number):
        return number

    def each(self, rests, layer):
        return [f"GET {self.prefix}/collections/{layer}/{rest}{self.more(rest)}" for rest in rests]

    def more(self, rest):
        if not self.extra:
            return ""
        return ("&" if "?" in rest else "?") + self.extra

    def document(self):
        return [f"GET {self.prefix}/{self.more('/')}"]

    def pages(self, limit, starts):
        name = "after" if self.keyset else "offset"
        return self.each([f"items?limit={limit}&{name}={start}" for start in starts], "points")

    def tiles(self, layer, zoom, places):
        return self.each(
            [f"tiles/WebMercatorQuad/{zoom}/{row}/{column}" for column, row in places], layer)


class MapServer(Features):
    """It finds no feature by its id in a GeoPackage, takes seconds for a page of 10,000 and a minute for the
    features after 900,000, and has tiles at an address of its own."""

    def pages(self, limit, starts):
        return []

    def each(self, rests, layer):
        return [] if "items/" in rests[0] else super().each(rests, layer)

    def tiles(self, layer, zoom, places):
        return [
            f"GET /mapserv?map=serve&mode=tile&tilemode=gmap&layers={layer}&map.imagetype=mvt"
            f"&tile={column}+{row}+{zoom}" for column, row in places]


class QGISServer(Features):
    """It has no tiles, and takes 11 seconds for the features after 900,000."""

    def pages(self, limit, starts):
        return [] if starts[0] >= 100_000 else super().pages(limit, starts)

    def tiles(self, layer, zoom, places):
        return []


class Tipg(Features):
    """Its tables have their schema before their name, and its tiles the column before the row."""

    def each(self, rests, layer):
        return super().each(rests, f"public.{layer}")

    def tiles(self, layer, zoom, places):
        return self.each(
            [f"tiles/WebMercatorQuad/{zoom}/{column}/{row}" for column, row in places], layer)


ADDRESSES = {
    "Fieldpack": Features(),
    "C": Features(),
    "MapServer": MapServer("/mapserv/serve/ogcapi", "f=json", keyset=False),
    "QGIS Server": QGISServer("/wfs3", keyset=False),
    "tipg": Tipg(keyset=False),
}

NGINX = """
daemon off; worker_processes 2; pid {folder}/nginx.pid; error_log {folder}/error.log;
events {{ worker_connections 512; }}
http {{
  access_log off;
  client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi; uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
  upstream program {{ server unix:{folder}/program.sock; }}
  server {{
    listen 127.0.0.1:{port};
    keepalive_requests 1000000;
    location / {{
      include /etc/nginx/fastcgi_params;
      fastcgi_split_path_info ^({script})(/?.*)$;
      fastcgi_param PATH_INFO $fastcgi_path_info;
      fastcgi_param SCRIPT_NAME "{script}";
      fastcgi_param SERVER_PROTOCOL $server_protocol;
      fastcgi_read_timeout 600;
      fastcgi_pass program;
    }}
  }}
}}
"""

LAYER = """
  LAYER
    NAME "{name}" TYPE {type} STATUS ON
    CONNECTIONTYPE OGR CONNECTION "{file}" DATA "{name}" PROCESSING "CLOSE_CONNECTION=DEFER"
    PROJECTION "init=epsg:4326" END
    EXTENT 5 45 25 55
    TEMPLATE "void"
    METADATA "ows_title" "{name}" "gml_include_items" "all" "ows_include_items" "all"
      "gml_featureid" "{id}" END
  END
"""

MAP = """
MAP
  NAME "serve" EXTENT 5 45 25 55 SIZE 256 256
  PROJECTION "init=epsg:4326" END
  WEB METADATA "ows_title" "serve" "ows_enable_request" "*" "oga_onlineresource"
    "http://127.0.0.1:{port}/mapserv/serve/ogcapi/" "oga_max_limit" "10000" END END
  OUTPUTFORMAT NAME "mvt" DRIVER MVT FORMATOPTION "EDGE_BUFFER=4" EXTENSION "pbf" END
  {layers}
END
"""


def start(setup, ports, copy):
    """The peers that are installed."""
    found = tipg.start(setup, setup.path("serve.gpkg"), ports["tipg"])
    if not (shutil.which("nginx") and shutil.which("spawn-fcgi")):
        say("nginx and spawn-fcgi are not installed, so no peers run behind them")
        return found
    for name, program, prepare in [
        ("MapServer", shutil.which("mapserv"), map_server),
        ("QGIS Server", "/usr/lib/cgi-bin/qgis_mapserv.fcgi", qgis_server),
    ]:
        if not program or not os.path.exists(program):
            say(f"{name} is not installed, so it is left out")
            continue
        folder = setup.out(name.replace(" ", "-"))
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        file = copy(f"served-{name.replace(' ', '-')}.gpkg")
        try:
            environment, script = prepare(folder, file, ports[name])
        except Failure as failure:
            say(f"{name} is left out: {failure}")
            continue
        path = os.path.join(folder, "nginx.conf")
        with open(path, "w", encoding="ascii") as text:
            text.write(NGINX.format(folder=folder, port=ports[name], script=script))
        spawn = [
            "spawn-fcgi", "-n", "-s", f"{folder}/program.sock", "-M", "0666", "--",
            shutil.which("multiwatch") or program]
        if shutil.which("multiwatch"):
            spawn += ["-f", "2", "--", program]
        try:
            found[name] = Server(
                name, [spawn, ["nginx", "-c", path, "-e", f"{folder}/error.log"]], ports[name],
                f"{folder}/log", environment)
        except Failure as failure:
            say(f"{name} is left out: {failure}")
    return found


def map_server(folder, file, port):
    layers = "".join(
        LAYER.format(name=name, type=kind, file=file, id=column)
        for name, kind, column in [("points", "POINT", "num"), ("polys", "POLYGON", "pid")])
    with open(f"{folder}/serve.map", "w", encoding="ascii") as text:
        text.write(MAP.format(port=port, layers=layers))
    with open(f"{folder}/mapserver.conf", "w", encoding="ascii") as text:
        text.write(
            f'CONFIG ENV MS_MAP_PATTERN "." OGCAPI_HTML_TEMPLATE_DIRECTORY "{folder}" '
            f'PROJ_LIB "/usr/share/proj" END MAPS serve "{folder}/serve.map" END END\n')
    return {"MAPSERVER_CONFIG_FILE": f"{folder}/mapserver.conf"}, "/mapserv"


def qgis_server(folder, file, port):
    del port
    # The Python that QGIS's modules were built for.
    script = os.path.join(os.path.dirname(os.path.dirname(__file__)), "peers/qgis_project.py")
    run(
        ["/usr/bin/python3", script, f"{folder}/serve.qgs", file, "points", "polys"],
        {"QT_QPA_PLATFORM": "offscreen", "HOME": folder})
    environment = {
        "QGIS_PROJECT_FILE": f"{folder}/serve.qgs", "QGIS_SERVER_LOG_STDERR": "1",
        "QGIS_SERVER_LOG_LEVEL": "2", "QT_QPA_PLATFORM": "offscreen", "HOME": folder,
        "QGIS_SERVER_API_WFS3_MAX_LIMIT": "10000",
    }
    return environment, ""
