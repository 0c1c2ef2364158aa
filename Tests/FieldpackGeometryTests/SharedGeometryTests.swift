import FieldpackGeometry
import FieldpackTestSupport
import Foundation
import Testing

/// Geometries of other libraries' tests, read from the shared data.
@Suite(.enabled(if: SharedData.isPresent, Comment(rawValue: SharedData.absent)))
struct SharedGeometryTests {
  struct Sample: Decodable {
    let wkt: String
    let wkb: String
    let ewkb: String
    let wkbXdr: String
    let ewkbXdr: String
    let ewkbNoSrid: String
    let ewkbXdrNoSrid: String
  }

  @Test(arguments: ["wkx_testdata.json", "wkx_testdataZ.json"])
  func `every encoding of wkx is the same geometry`(file: String) throws {
    let data = try Data(contentsOf: SharedData.url("real/wkb/" + file))
    let samples = try JSONDecoder().decode([String: Sample].self, from: data)
    #expect(samples.count == 21)
    for (name, sample) in samples {
      let geometry = try WKT.read(sample.wkt)
      let table: [(String, ByteOrder, WKB.Flavour)] = [
        (sample.wkb, .little, .iso), (sample.wkbXdr, .big, .iso),
        (sample.ewkb, .little, .ewkb(srid: 4326)), (sample.ewkbXdr, .big, .ewkb(srid: 4326)),
        (sample.ewkbNoSrid, .little, .ewkb(srid: nil)),
        (sample.ewkbXdrNoSrid, .big, .ewkb(srid: nil)),
      ]
      for (encoded, order, flavour) in table {
        #expect(try WKB.read(bytes(encoded)) == geometry, "\(name)")
        let written = WKB.bytes(of: geometry, byteOrder: order, flavour: flavour)
        #expect(hex(written) == encoded, "\(name)")
      }
      // wkx writes the points of a MULTIPOINT without parentheses of their own.
      if geometry.type != .multiPoint {
        let text = WKT.text(of: geometry)
        #expect(text.filter { $0 != " " } == sample.wkt.filter { $0 != " " }, "\(name)")
      }
    }
  }

  // Counts and boxes are shapely 2.2's.
  @Test(arguments: [
    ("gt_r1c1.wkb", 423, Envelope(minX: -157, minY: -48, maxX: 0, maxY: 77)),
    ("gt_r1c1_2.wkb", 107, Envelope(minX: 12, minY: 7, maxX: 90, maxY: 69)),
    ("gt_r1c1_4.wkb", 28, Envelope(minX: 4, minY: 3, maxX: 23, maxY: 18)),
    ("gt_r1c2_1.wkb", 191, Envelope(minX: 0, minY: 13, maxX: 157, maxY: 138)),
    ("gt_r1c2_3.wkb", 59, Envelope(minX: 0, minY: 4, maxX: 40, maxY: 35)),
  ])
  func `footprints in big-endian WKB are read`(
    file: String, count: Int, envelope: Envelope
  ) throws {
    let input = Array(try Data(contentsOf: SharedData.url("real/wkb/" + file)))
    let geometry = try WKB.read(input)
    #expect(geometry.type == .multiPolygon && geometry.coordinateCount == count)
    #expect(try WKB.envelope(of: input.span.bytes) == envelope)
    #expect(WKB.bytes(of: geometry, byteOrder: .big) == input)
  }

  @Test(arguments: [
    (
      "africa.wkt", 49, 16087,
      Envelope(minX: -17.55885, minY: -34.7871, maxX: 51.41685, maxY: 37.291)
    ),
    (
      "russia.wkt", 1, 598,
      Envelope(minX: -180, minY: 41.15141612402135, maxX: 180, maxY: 81.2504)
    ),
    (
      "usa-lower48.wkt", 49, 11481,
      Envelope(minX: -124.73142, minY: 24.95597, maxX: -66.96985, maxY: 49.37174)
    ),
  ])
  func `outlines in WKT are read`(
    file: String, geometries: Int, positions: Int, envelope: Envelope
  ) throws {
    let text = try String(contentsOf: SharedData.url("real/wkb/" + file), encoding: .utf8)
    // Several geometries a file: each begins a line with its name.
    let parts = text.replacing("\nP", with: "\n;P").replacing("\nM", with: "\n;M").split(
      separator: ";")
    let read = try parts.map { part in try WKT.read(part) }
    var box = Envelope.empty
    for geometry in read { box.formUnion(geometry.envelope ?? .empty) }
    #expect(read.count == geometries && box == envelope)
    #expect(read.reduce(0) { $0 + $1.coordinateCount } == positions)
    #expect(try read.map { try WKT.read(WKT.text(of: $0)) } == read)
  }
}
