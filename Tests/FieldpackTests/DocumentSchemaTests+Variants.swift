/// Documents that the article's commands do not print: of nothing, of errors, and with what is
/// `null` or filled seldom.
extension DocumentSchemaTests {
  static let files: [(name: String, text: String)] = [
    (
      "two.scfg",
      """
      {"stores": [
        {"id": "sites", "store_type": "geojson", "version": "1", "uri": "sites.geojson",
          "colour": "red"},
        {"id": "gone", "store_type": "gpkg", "version": "1", "uri": "gone.gpkg"}]}
      """
    ),
    // Layers are divided by servers of PostgreSQL, which this suite does not start.
    (
      "division.json",
      """
      {"layers":[{"store":"survey","layer":"wells","area":[-180,-90,180,90],"reach":[0,0],
        "copied_count":3,"parts":[
          {"server":null,"table":"wells_g1_p0","first":-2,"last":-1,"count":1},
          {"server":"north","table":"wells_g1_p1","first":0,"last":4294967295,"count":2}],
        "sql":"BEGIN;","citus_sql":"","notes":["a note"]}]}
      """
    ),
    ("open.scfg", #"{"remote": {"http_host": "localhost", "auth": "no-auth"}}"#),
    ("closed.scfg", #"{"remote": {"http_host": "localhost"}}"#),
    (
      "gaps.geojson",
      """
      {"type": "FeatureCollection", "features": [
        {"type": "Feature", "id": 7, "properties": {"a": true}, "geometry": null},
        {"type": "Feature", "id": 11, "properties": {"a": false},
          "geometry": {"type": "Point", "coordinates": [10.14123456789012, 54.3, 7.25]}}]}
      """
    ),
    (
      "bad.geojsonl",
      """
      {"type": "Feature", "properties": {"n": 1}, "geometry": null}
      {"type": "Feature", "properties": {"n": 2}, "geometry": {"type": "Point"}}

      """
    ),
    (
      "more.sql",
      """
      CREATE TABLE gpkg_tile_matrix_set (table_name TEXT NOT NULL PRIMARY KEY,
        srs_id INTEGER NOT NULL, min_x DOUBLE NOT NULL, min_y DOUBLE NOT NULL,
        max_x DOUBLE NOT NULL, max_y DOUBLE NOT NULL);
      CREATE TABLE gpkg_tile_matrix (table_name TEXT NOT NULL, zoom_level INTEGER NOT NULL,
        matrix_width INTEGER NOT NULL, matrix_height INTEGER NOT NULL,
        tile_width INTEGER NOT NULL, tile_height INTEGER NOT NULL, pixel_x_size DOUBLE NOT NULL,
        pixel_y_size DOUBLE NOT NULL, PRIMARY KEY (table_name, zoom_level));
      CREATE TABLE ortho (id INTEGER PRIMARY KEY, zoom_level INTEGER NOT NULL,
        tile_column INTEGER NOT NULL, tile_row INTEGER NOT NULL, tile_data BLOB NOT NULL);
      INSERT INTO gpkg_contents (table_name, data_type, srs_id) VALUES ('ortho', 'tiles', 4326);
      INSERT INTO gpkg_tile_matrix_set VALUES ('ortho', 4326, -180, -90, 180, 90);
      INSERT INTO gpkg_tile_matrix VALUES ('ortho', 0, 2, 1, 256, 256, 0.703125, 0.703125);
      CREATE TABLE gpkg_data_columns (table_name TEXT, column_name TEXT, name TEXT, title TEXT,
        description TEXT, mime_type TEXT, constraint_name TEXT);
      CREATE TABLE gpkg_data_column_constraints (constraint_name TEXT, constraint_type TEXT,
        value TEXT, min NUMERIC, min_is_inclusive BOOLEAN, max NUMERIC, max_is_inclusive BOOLEAN,
        description TEXT);
      INSERT INTO gpkg_data_columns VALUES ('names', 'size', NULL, 'Size', NULL, NULL, 'sizes'),
        ('names', 'name', NULL, NULL, NULL, NULL, 'known'),
        ('names', 'code', NULL, NULL, NULL, NULL, 'codes');
      INSERT INTO gpkg_data_column_constraints VALUES
        ('sizes', 'range', NULL, 0, 1, 9.5, 0, NULL), ('codes', 'glob', 'P*', 0, 0, 0, 0, NULL),
        ('known', 'enum', 'Pier', NULL, NULL, NULL, NULL, 'a pier');
      CREATE TABLE gpkgext_relations (id INTEGER PRIMARY KEY, base_table_name TEXT,
        base_primary_column TEXT, related_table_name TEXT, related_primary_column TEXT,
        relation_name TEXT, mapping_table_name TEXT);
      CREATE TABLE feeds (base_id INTEGER, related_id INTEGER);
      INSERT INTO gpkgext_relations VALUES (1, 'names', 'fid', 'names', 'fid', 'simple', 'feeds');
      """
    ),
    (
      "unknown.scfg",
      """
      {"stores": [{"id": "x", "store_type": "nothing", "uri": "http://localhost/x"}]}
      """
    ),
    ("names.csv", "name,size,code\nPier,1.5,P1\nLookout,,\n"),
    (
      "walk.csv",
      """
      lon,lat,time,radius_m
      7,47,2024-05-01T10:00:00Z,30
      7.001234567,47,2024-05-01T10:00:02Z,30
      7.1,47,2024-05-01T10:00:04.5Z,30

      """
    ),
    ("untimed.csv", "lon,lat\n7,47\n7.1,47\n"),
    (
      "motion.jsonl",
      """
      {"type":"data","uuid":"walk","timestamp":"1714557601",\
      "rotation":{"x":[0.1],"y":[0.2],"z":[0.3]}}
      {"type":"data","uuid":nan}

      """
    ),
  ]

  static let variants: [(schema: String, command: String)] =
    engine + field + [
      ("completions", "fieldpack completions bash --json"),
      ("completions", "fieldpack completions zsh --json"),
      ("completions", "fieldpack completions fish --json"),
      ("help", "fieldpack help --json"),
      ("doctor", "fieldpack doctor two.scfg nowhere.gpkg --json"),
      ("help", "fieldpack track --json"), ("error", "fieldpack nothing --json"),
      ("error", "fieldpack query --json --limit x sites.geojson"),
      ("error", "fieldpack get f.gpkg AA== --json"),
      ("error", "fieldpack sql f.gpkg 'SELEC 1' --json"),
      ("error", "fieldpack import bad.geojsonl --into no.gpkg --json"),
      ("error", "fieldpack create f.gpkg gaps gaps.geojson --json"),
      ("error", "fieldpack query two.scfg --store gone --json"),
      (
        "log",
        "for command in 'import gaps.geojson --into l.gpkg' "
          + "'query two.scfg' 'export l.gpkg --output l.csv' 'import bad.geojsonl --into l.gpkg'; "
          + "do "
          + "fieldpack $command --log-level trace --log-format json --log-file l.log &>/dev/null; "
          + "done; cat l.log"
      ),
    ]

  private static let engine: [(schema: String, command: String)] = [
    ("import", "fieldpack import gaps.geojson --into f.gpkg --json --dry-run"),
    ("import", "fieldpack import gaps.geojson --into f.gpkg --json"),
    ("import", "fieldpack import names.csv --into f.gpkg --json"),
    ("import", "fieldpack import sites.geojson --into f.gpkg --srs EPSG:25832 --json"),
    ("import", "fieldpack import bad.geojsonl --into f.gpkg --skip-errors --json"),
    ("info", "fieldpack info two.scfg --json"), ("info", "fieldpack info f.gpkg names --json"),
    ("info", "fieldpack info f.gpkg --stats --json"),
    ("info", "fieldpack info names.csv --stats --json"),
    (
      "info",
      "fieldpack import names.csv --into more.gpkg >/dev/null; "
        + "fieldpack sql more.gpkg --write - <more.sql; fieldpack info more.gpkg --json"
    ),
    ("info", "fieldpack info unknown.scfg --json"),
    ("fetch", "fieldpack fetch unknown.scfg --json"),
    ("services", "fieldpack services unknown.scfg --json"),
    ("services", "fieldpack services two.scfg --json"),
    (
      "services-follow",
      #""$tool" services two.scfg --follow --json >lines & "#
        + "until [ -s lines ]; do sleep 0.01; done; kill $!; wait $!; cat lines"
    ),
    ("bridge", #"echo '{"type":102}' | fieldpack bridge two.scfg --json"#),
    ("bridge", #"echo '{"type":102' | fieldpack bridge two.scfg --json"#),
    (
      "serve",
      #""$tool" serve f.gpkg --listen 127.0.0.1:0 --health 127.0.0.1:0 --json >serve & "#
        + "until [ -s serve ]; do sleep 0.01; done; kill $!; wait $! || exit 9; cat serve"
    ),
    ("person-add", "fieldpack person add p.gpkg --json"),
    ("item-setup", "fieldpack item setup p.gpkg --person 1 --type Face2d --json"),
    ("item-capture", "fieldpack item capture p.gpkg 1 --json"),
    ("sensor-info", "fieldpack sensor info cam:///dev/video0 --json"),
    (
      "sensor-simulate",
      #""$tool" sensor simulate --listen 127.0.0.1:0 --json >sensor & "#
        + "until [ -s sensor ]; do sleep 0.01; done; kill $!; wait $! || exit 9; cat sensor"
    ),
    ("token-add", "fieldpack token add t.json a --allow read --allow write:gaps --json"),
    ("token-list", "fieldpack token list t.json --json"),
    ("token-revoke", "fieldpack token revoke t.json a --json"),
    ("login", "echo word | fieldpack login open.scfg --user me --password-fd 0 --json"),
    ("logout", "fieldpack logout closed.scfg --json"),
    ("whoami", "fieldpack whoami closed.scfg --json"),
    ("services", "fieldpack services closed.scfg --json"),
    ("shard-apply", "cat division.json"),
    ("shard-plan", "cat division.json"),
    ("shard-rebalance", "cat division.json"),
    (
      "sync-plan",
      "fieldpack import gaps.geojson --into office.gpkg >/dev/null; "
        + #""${tool%/*}/FieldpackTestSubject" log office.gpkg gaps; cp office.gpkg laptop.gpkg; "#
        + "fieldpack sql office.gpkg --write 'UPDATE gaps SET a = 1' >/dev/null; "
        + "fieldpack sql laptop.gpkg --write 'DELETE FROM gaps WHERE fid = 7; "
        + "UPDATE gaps SET a = NULL' >/dev/null; "
        + "fieldpack sync laptop.gpkg office.gpkg --dry-run --json"
    ),
    ("sync", "fieldpack sync laptop.gpkg office.gpkg --json"),
    // No PostgreSQL runs beside this test. A check-in prints what a synchronisation prints.
    ("checkin", "fieldpack sync laptop.gpkg office.gpkg --json"),
    ("checkin-plan", "fieldpack sync laptop.gpkg office.gpkg --dry-run --json"),
    (
      "checkout",
      #"echo '{"output":"a.gpkg","layers":[{"layer":"wells","feature_count":16}],"notes":["a"]}'"#
    ),
    (
      "sync-follow",
      #""$tool" sync laptop.gpkg office.gpkg --follow --json >sync1 & "#
        + "until [ -s sync1 ]; do sleep 0.01; done; kill $!; wait $!; cat sync1"
    ),
    (
      "sync-follow",
      #""$tool" sync laptop.gpkg http://127.0.0.1:9 --follow --json >sync2 & "#
        + "until [ -s sync2 ]; do sleep 0.01; done; kill $!; wait $!; cat sync2"
    ),
    ("query", "fieldpack query two.scfg --json"),
    ("query", "fieldpack query f.gpkg --json"),
    ("query", "fieldpack query f.gpkg sites --srs EPSG:3857 --json"),
    ("query", "fieldpack query f.gpkg names --where FALSE --json"),
    ("query", "fieldpack query bad.geojsonl --skip-errors --json"),
    (
      "query",
      "fieldpack import sites.geojson --into bad.gpkg >/dev/null; fieldpack sql bad.gpkg --write "
        + "\"UPDATE sites SET geom = x'47500001E610000001' WHERE fid = 2\"; "
        + "fieldpack query bad.gpkg --json"
    ),
    ("query-count", "fieldpack query two.scfg --count --json"),
    ("query-count", "fieldpack query f.gpkg --where FALSE --count --json"),
    ("explain", "fieldpack explain f.gpkg --no-run --json"),
    (
      "explain",
      #"fieldpack explain f.gpkg sites --srs EPSG:4326 --json --bbox 10,54,10.145,55 "#
        + #"--where "S_WITHIN(geom, BBOX(10, 54, 11, 55)) AND name <> 'x'""#
    ),
    ("export", "fieldpack export f.gpkg sites --output sites.svg --json"),
    ("export", "fieldpack export two.scfg --skip-errors --output sites.gpkg --json"),
    ("export", "fieldpack export f.gpkg names --split-by name --output names --json"),
    ("export", "fieldpack export f.gpkg names --where FALSE --output none.geojson --json"),
    ("transform", "fieldpack transform f.gpkg --srs EPSG:3857 --output m.gpkg --json"),
    ("optimize", "fieldpack optimize f.gpkg --index --json"),
    (
      "check",
      #"fieldpack sql f.gpkg --write "UPDATE gpkg_contents SET min_x = 1e9" >/dev/null; "#
        + "fieldpack check f.gpkg --json"
    ),
    ("check", "fieldpack check f.gpkg --repair --json"),
    ("get", "fieldpack get f.gpkg Zg==.Z2Fwcw==.Nw== --json"),
    ("get", "fieldpack get f.gpkg Zg==.Z2Fwcw==.MTE= --json"),
    (
      "create",
      "fieldpack create f.gpkg names --json <<<'{\"type\":\"FeatureCollection\",\"features\":[]}'"
    ),
    ("sql", "fieldpack sql f.gpkg \"SELECT 1, 2.5, NULL, 'x', x'00FF', geom FROM gaps\" --json"),
    ("sql", "fieldpack sql f.gpkg 'SELECT fid FROM gaps WHERE 0' --json"),
    (
      "sql-write",
      "fieldpack sql f.gpkg --write 'UPDATE names SET size = 2; SELECT size FROM names' --json"
    ),
    ("sql-explain", "fieldpack sql f.gpkg 'SELECT 1' --explain --json"),
    ("layer-list", "fieldpack layer list f.gpkg --json"),
    ("layer-show", "fieldpack layer show f.gpkg:gaps --json"),
    ("layer-export", "fieldpack layer export f.gpkg:gaps --output gaps2.geojson --json"),
    ("layer-rename", "fieldpack layer rename f.gpkg:gaps holes --json"),
    ("layer-add-column", "fieldpack layer add-column f.gpkg:holes b TEXT --json"),
    ("layer-rename-column", "fieldpack layer rename-column f.gpkg:holes b c --json"),
    ("layer-retype", "fieldpack layer retype f.gpkg:holes c INTEGER --json"),
    ("layer-drop-column", "fieldpack layer drop-column f.gpkg:holes c --json"),
    ("layer-delete", "fieldpack layer delete f.gpkg:holes --json"),
  ]

  private static let field: [(schema: String, command: String)] = [
    ("monitor", "fieldpack monitor walk.csv --radius 80 --json"),
    ("monitor", "fieldpack monitor untimed.csv --distance 1e7 --json"),
    ("monitor", "fieldpack monitor walk.csv --regions sites.geojson --radius 80 --json"),
    ("monitor-follow", "fieldpack monitor walk.csv --distance 10 --follow --json"),
    (
      "monitor-follow",
      "fieldpack monitor walk.csv --regions walk.csv --detect inside,outside --follow --json"
    ),
    ("track-list", "fieldpack track list f.gpkg --json"),
    ("track-log", "fieldpack track log f.gpkg --json"),
    ("track-record", "fieldpack track record untimed.csv --into t.gpkg --sampling all --json"),
    (
      "track-record",
      "fieldpack track record walk.csv --into t.gpkg --sampling distance:10 --json "
        + "--photos f.gpkg:sites"
    ),
    (
      "track-record-follow",
      "fieldpack track record walk.csv --into t.gpkg --name b --follow --json"
    ),
    ("track-list", "fieldpack track list t.gpkg --json"),
    ("track-show", "fieldpack track show t.gpkg walk --json"),
    ("track-export", "fieldpack track export t.gpkg --output t.geojson --json"),
    (
      "track-log-follow",
      // A signal to the function would not reach the tool.
      "$tool track log t.gpkg --follow --json >log & until grep -q ended log; do sleep 0.05; done; "
        + "kill $!; wait $!; cat log"
    ),
    ("photo-list", "fieldpack photo list t.gpkg --json"),
    ("photo-fetch", "fieldpack photo fetch t.gpkg --from f.gpkg:sites --retry --json"),
    ("photo-export", "fieldpack photo export t.gpkg --output t.html --json"),
    ("capture-list", "fieldpack capture list f.gpkg --json"),
    (
      "capture-add",
      "export XDG_STATE_HOME=$PWD; "
        + #"printf '\377\330\377\300\0\13\10\0\3\0\4\1\1\21\0\377\331' >shot.jpg; "#
        + "fieldpack capture add shot.jpg --fixes walk.csv --folder captures --no-thumbnail --json"
    ),
    (
      "import-tiles",
      "mkdir -p map/0/0; printf 'RIFF    WEBPVP8 ' >map/0/0/0.webp; "
        + "fieldpack import map --into m.gpkg --json"
    ),
    ("export-tiles", "fieldpack export m.gpkg -o m.mbtiles --json"),
    ("tile", "fieldpack tile m.gpkg 0/0/0 -o m.webp --json"),
    ("import-captures", "fieldpack import captures --into c.gpkg --json"),
    ("import-captures", "fieldpack import captures --into c.gpkg --json"),
    ("capture-list", "fieldpack capture list c.gpkg --json"),
    ("capture-show", "fieldpack capture show c.gpkg $(ls captures) --json"),
    (
      "capture-title",
      "fieldpack capture title c.gpkg $(ls captures) Summit --json"
    ),
    ("capture-export", "fieldpack capture export c.gpkg --output out --json"),
    ("capture-upload", "fieldpack capture upload c.gpkg --to http://127.0.0.1:9/ --json"),
    (
      "capture-fetch",
      #""$tool" serve c.gpkg --listen 127.0.0.1:0 --json >captured & "#
        + "until [ -s captured ]; do sleep 0.01; done; "
        + #""$tool" capture fetch "$(grep -o -m 1 'http://[^"]*/' captured | head -n 1)" "#
        + "$(ls captures) "
        + "--into fetched --json >got; kill $!; wait $! || exit 9; cat got"
    ),
    ("capture-delete", "fieldpack capture delete c.gpkg $(ls captures) --json"),
    ("capture-upload", "fieldpack capture upload c.gpkg --to http://127.0.0.1:9/ --json"),
    (
      "capture-record",
      "export XDG_STATE_HOME=$PWD; fieldpack capture record --folder captures --json"
    ),
    (
      "capture-record-follow",
      "export XDG_STATE_HOME=$PWD; echo '{\"lon\": 13.9, \"lat\": 51.9}' "
        + "| fieldpack capture record --media shot.jpg --fixes - --into c.gpkg --no-thumbnail "
        + "--follow --json | head -n 1"
    ),
    (
      "capture-record",
      "export XDG_STATE_HOME=$PWD; printf '{\"lon\": 13.9, \"lat\": 51.9}\\nnothing\\n' "
        + "| fieldpack capture record --media shot.jpg --fixes - --into c.gpkg --no-thumbnail "
        + "--json"
    ),
    (
      "capture-record",
      // A recording that is killed is completed by the next one.
      "export XDG_STATE_HOME=$PWD; mkfifo in; "
        + "$tool capture record --media shot.jpg --fixes in --folder left --no-thumbnail --follow "
        + "--json >first & exec 3>in; echo '{\"lon\": 13.9, \"lat\": 51.9}' >&3; "
        + "until [ -s first ]; do sleep 0.05; done; kill -9 $!; wait $!; "
        + "fieldpack capture record --folder left --no-thumbnail --json"
    ),
    ("motion-list", "fieldpack motion list f.gpkg --json"),
    ("motion-import", "fieldpack motion import motion.jsonl --into m.gpkg --skip-errors --json"),
    ("motion-import", "fieldpack motion import motion.jsonl --into m.gpkg --skip-errors --json"),
    ("motion-show", "fieldpack motion show m.gpkg walk --json"),
    ("motion-show-rows", "fieldpack motion show m.gpkg --rows --json"),
    ("motion-show-rows", "fieldpack motion show m.gpkg --nearest 5 --json"),
    ("motion-join", "fieldpack motion join f.gpkg walk.csv --json"),
    ("motion-post", "fieldpack motion post m.gpkg --server http://127.0.0.1:9 --attempts 1 --json"),
    ("motion-delete", "fieldpack motion delete m.gpkg walk --json"),
  ]
}
