import FieldpackCore
import FieldpackFormats
import FieldpackGeometry
import FieldpackTestSupport
import Foundation
import Testing

/// What gpxpy and GDAL read of the GPX we write, in both dialects.
@Suite(.programs) struct GPXPeerTests {
  private static let schema = Schema(
    layer: "walk", geometry: GeometryColumn(type: .point),
    columns: [ColumnDefinition("name", .text()), ColumnDefinition("time", .dateTime)])

  private func point(_ x: Double, _ y: Double, _ time: String?) throws -> Feature {
    var attributes: Attributes = ["name": .text("Ä & <b>")]
    if let time { attributes["time"] = .dateTime(try #require(Instant(time))) }
    return Feature(geometry: .point(x: x, y: y), attributes: attributes)
  }

  private func features() throws -> [Feature] {
    [
      try point(13.469561928501712, 52.50758081381847, "2019-11-11T12:10:00.999Z"),
      try point(-0.0000004, -89.9999996, "1969-12-31T23:59:59.5Z"),
      try point(180, -0.5, nil),
      Feature(geometry: nil, attributes: ["name": .text("nowhere")]),
    ]
  }

  /// Writes features of one layer.
  private func write(
    _ features: [Feature], _ schema: Schema, _ dialect: GPXDialect
  ) throws -> (text: String, notes: [String]) {
    let folder = try TemporaryFolder()
    let url = folder.file("out.gpx")
    let output = try ByteOutput(replacing: url.path, overwrite: false)
    var options = GPXWriter.Options()
    options.dialect = dialect
    var writer = GPXWriter(output, options: options)
    try writer.begin(schema)
    for (index, feature) in features.enumerated() {
      let values = schema.columns.map { feature.attributes[$0.name] ?? .null }
      try writer.feature(
        ValueRow(
          id: .integer(Int64(index + 1)), values, wkb: feature.geometry.map { WKB.bytes(of: $0) },
          envelope: feature.geometry?.envelope))
    }
    try writer.finish()
    try output.finish()
    return (try String(contentsOf: url, encoding: .utf8), writer.notes)
  }

  @Test func `PhotoPath's dialect is written byte for byte`() throws {
    let (text, notes) = try write(try features(), Self.schema, .photoPath)
    #expect(
      text == """
        <?xml version="1.0"?>
        <gpx version="1.1" creator="Xcode">
        <wpt lat="52.507581" lon="13.469562"><time>2019-11-11T12:10:00Z</time></wpt>
        <wpt lat="-90.000000" lon="-0.000000"><time>1969-12-31T23:59:59Z</time></wpt>
        <wpt lat="-0.500000" lon="180.000000"></wpt>
        </gpx>

        """)
    #expect(notes == ["layer 'walk': 1 features without geometry are left out"])
  }

  @Test func `PhotoPath's dialect has points alone`() {
    let lines = Schema(layer: "ways", geometry: GeometryColumn(type: .lineString), columns: [])
    let failure = #expect(throws: FieldpackError.self) { try write([], lines, .photoPath) }
    #expect(failure?.code == .unsupported)
    #expect(
      failure?.message == "layer 'ways' is not of points, which PhotoPath's GPX alone has")
    #expect(failure?.advice == .omitGPXDialect)
  }

  @Test(
    .enabled(if: Programs.gpxpyPython != nil, Comment(rawValue: Programs.noGPXPyPython)),
    arguments: GPXDialect.allCases)
  func `gpxpy reads back what is written`(dialect: GPXDialect) throws {
    let program = """
      import gpxpy, sys
      for p in gpxpy.parse(open(sys.argv[1], encoding="utf-8")).waypoints:
          print(repr(p.longitude), repr(p.latitude), p.time and p.time.isoformat(), p.name)
      """
    let lines = try read(try features(), dialect, try #require(Programs.gpxpyPython), program)
    let expected: [String] =
      switch dialect {
      case .gpx11:
        [
          "13.469561928501712 52.50758081381847 2019-11-11T12:10:00.999000+00:00 Ä & <b>",
          "-4e-07 -89.9999996 1969-12-31T23:59:59.500000+00:00 Ä & <b>",
          "-180.0 -0.5 None Ä & <b>",
        ]
      case .photoPath:
        [
          "13.469562 52.507581 2019-11-11T12:10:00+00:00 None",
          "-0.0 -90.0 1969-12-31T23:59:59+00:00 None", "180.0 -0.5 None None",
        ]
      }
    #expect(lines == expected)
  }

  @Test(
    .enabled(if: Programs.gdalPython != nil, Comment(rawValue: Programs.noGDALPython)),
    arguments: GPXDialect.allCases)
  func `GDAL reads back what is written`(dialect: GPXDialect) throws {
    let program = """
      import sys
      from osgeo import ogr
      data = ogr.Open(sys.argv[1])
      for f in data.GetLayerByName("waypoints"):
          g = f.GetGeometryRef()
          print("%.6f %.6f" % (g.GetX(), g.GetY()), f.GetField("time"))
      """
    let lines = try read(try features(), dialect, try #require(Programs.gdalPython), program)
    let (first, second) = dialect == .gpx11 ? (".999", ".500") : ("", "")
    // The schema of GPX 1.1 has no longitude of 180.
    let third = dialect == .gpx11 ? "-180.000000" : "180.000000"
    #expect(
      lines == [
        "13.469562 52.507581 2019/11/11 12:10:00\(first)+00",
        "-0.000000 -90.000000 1969/12/31 23:59:59\(second)+00", "\(third) -0.500000 None",
      ])
  }

  /// The lines that a program prints of a file that we wrote.
  private func read(
    _ features: [Feature], _ dialect: GPXDialect, _ python: String, _ program: String
  ) throws -> [String] {
    let folder = try TemporaryFolder()
    let url = try folder.write(try write(features, Self.schema, dialect).text, to: "walk.gpx")
    return try Programs.output(python, ["-c", program, url.path])
      .split(separator: "\n").map(String.init)
  }

  @Test(
    .enabled(
      if: SharedData.isPresent && Programs.gpxpyPython != nil,
      Comment(rawValue: "the data folder or gpxpy is absent")))
  func `gpxpy reads every real file as it reads what we make of it`() throws {
    let folder = try TemporaryFolder()
    var pairs: [String] = []
    for file in SharedData.files(in: "real/gpx", extensions: ["gpx"]) {
      var options = ReadOptions(layer: "x")
      options.skipsErrors = true
      let reading = try GPXReading(
        GPXReader(try ByteInput(path: file.path), options: options))
      let text = try GPXWriting(reading).text
      pairs += [file.path, try folder.write(text, to: file.lastPathComponent).path]
    }
    let said = try Programs.output(
      try #require(Programs.gpxpyPython), ["-c", Self.comparison] + pairs)
    #expect(said == "\(pairs.count / 2) files\n")
  }

  /// Prints how two files differ; gpxpy refuses some of the real ones, which are then left out.
  private static let comparison = """
    import datetime, gpxpy, sys
    def utc(t):
        return t if t is None or t.tzinfo else t.replace(tzinfo=datetime.timezone.utc)
    def facts(path):
        g = gpxpy.parse(open(path, "rb").read())
        place = lambda p: (p.longitude, p.latitude, p.elevation, utc(p.time))
        return [[place(p) for p in g.waypoints],
                [[place(p) for p in r.points] for r in g.routes],
                [[[place(p) for p in s.points] for s in t.segments if s.points]
                 for t in g.tracks]]
    names = sys.argv[1:]
    for a, b in zip(names[::2], names[1::2]):
        try: before = facts(a)
        except Exception: continue
        if before != facts(b): print(a)
    print(len(names) // 2, "files")
    """
}
