import FieldpackCore
import FieldpackGeometry
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackFormats

/// Files that are put together from pieces encoded on their own.
@Suite struct FeatureTextEncoderTests {
  static let schema = Schema(
    layer: "wells", geometry: GeometryColumn(), columns: [ColumnDefinition("name", .text())])

  static let rows: [ValueRow] = [
    ValueRow(1, ["a"], "POINT (1 2)"), ValueRow(2, [nil], nil),
    ValueRow(3, ["c"], "LINESTRING (1 2,3 4)"), ValueRow(4, ["<d>"], "POINT Z (5 6 7)"),
    ValueRow(5, ["e"], "MULTILINESTRING ((1 2,3 4),(5 6,7 8))"), ValueRow(6, ["f"], "POINT EMPTY"),
  ]
  /// A row that GeoJSON and GPX refuse.
  static let bad = ValueRow(9, ["bad"], "POINT (NaN 200)")

  /// What a writer makes of `rows` in pieces of `size`; without pieces where that is 0.
  private func write<Writer: FeatureTextWriter>(
    _ rows: [ValueRow], size: Int, _ make: (ByteOutput) -> Writer
  ) throws(FieldpackError) -> (text: String, skipped: [SkippedFeature], notes: [String]) {
    let output = ByteOutput()
    var writer = make(output)
    try writer.begin(Self.schema)
    if size == 0 {
      for row in rows { try writer.feature(row) }
    } else {
      for start in stride(from: 0, to: rows.count, by: size) {
        var encoder = writer.encoder()
        try encoder.begin(Self.schema)
        for row in rows[start..<min(start + size, rows.count)] { try encoder.feature(row) }
        try writer.take(from: &encoder)
        #expect(encoder.byteCount == 0 && encoder.count == 0)
      }
    }
    try writer.finish()
    return (String(decoding: output.buffer, as: UTF8.self), writer.skipped, writer.notes)
  }

  private func check<Writer: FeatureTextWriter>(
    _ rows: [ValueRow], _ make: (ByteOutput) -> Writer
  ) throws {
    let whole = try write(rows, size: 0, make)
    for size in [1, 2, 5, 100] {
      let pieces = try write(rows, size: size, make)
      #expect(pieces.text == whole.text)
      #expect(pieces.skipped == whole.skipped)
      #expect(pieces.notes == whole.notes)
    }
  }

  @Test(arguments: [GeoJSONWriter.Layout.collection, .lines, .sequence])
  func `GeoJSON of pieces is that of the whole`(layout: GeoJSONWriter.Layout) throws {
    var options = GeoJSONWriter.Options()
    options.layout = layout
    options.skipsErrors = true
    options.writesBoundingBoxes = true
    for rows in [[], Self.rows, [Self.bad] + Self.rows + [Self.bad], [Self.bad]] {
      try check(rows) { GeoJSONWriter($0, options: options) }
    }
  }

  @Test func `CSV of pieces is that of the whole`() throws {
    try check(Self.rows) { CSVWriter($0) }
  }

  @Test func `GPX of pieces is that of the whole`() throws {
    var options = GPXWriter.Options()
    options.skipsErrors = true
    for rows in [[], Self.rows, [Self.bad] + Self.rows + [Self.bad]] {
      try check(rows) { GPXWriter($0, options: options) }
    }
  }

  @Test func `what stands before a feature that fails is written`() throws {
    let output = ByteOutput()
    var options = GeoJSONWriter.Options()
    options.layout = .lines
    var writer = GeoJSONWriter(output, options: options)
    try writer.begin(Self.schema)
    var encoder = writer.encoder()
    try encoder.begin(Self.schema)
    for row in [Self.rows[0], Self.bad, Self.rows[2]] { try encoder.feature(row) }
    #expect(encoder.isFull && encoder.count == 1)
    let error = #expect(throws: FieldpackError.self) { try writer.take(from: &encoder) }
    #expect(error?.message == "feature 9 cannot be written: a coordinate is not finite")
    #expect(
      String(decoding: output.buffer, as: UTF8.self)
        == #"{"type":"Feature","id":1,"properties":{"name":"a"},"#
        + #""geometry":{"type":"Point","coordinates":[1,2]}}"# + "\n")
  }

  @Test func `tracks stand behind the waypoints and routes that come after them`() throws {
    let folder = try TemporaryFolder()
    let url = folder.file("out.gpx")
    let text = [ColumnDefinition("name", .text())]
    let lines = Schema(layer: "paths", geometry: GeometryColumn(type: .lineString), columns: text)
    let points = Schema(layer: "wells", geometry: GeometryColumn(type: .point), columns: text)
    let routes = Schema(layer: "routes", geometry: GeometryColumn(type: .lineString), columns: text)
    let output = try ByteOutput(replacing: url.path, overwrite: false)
    var writer = GPXWriter(output)
    for (schema, name, wkt) in [
      (lines, "first", "LINESTRING (1 2,3 4)"), (points, "well", "POINT (5 6)"),
      (lines, "second", "LINESTRING (7 8,9 10)"), (routes, "way", "LINESTRING (1 1,2 2)"),
    ] {
      var encoder = writer.encoder()
      try encoder.begin(schema)
      try encoder.feature(ValueRow(1, [.text(name)], wkt))
      try writer.begin(schema)
      try writer.take(from: &encoder)
    }
    try writer.finish()
    try output.finish()
    let written = try String(contentsOf: url, encoding: .utf8)
    let order = written.matches(of: /<(wpt|rte|trk)\b[^>]*><name>(\w+)/).map { "\($0.1) \($0.2)" }
    #expect(order == ["wpt well", "rte way", "trk first", "trk second"])
  }
}
