import FieldpackCore
import FieldpackGeometry
import FieldpackTestSupport
import Testing

@testable import FieldpackPostGIS

@Suite struct CopyEncoderTests {
  private static let plan = CopyPlan(
    store: "db", layer: "wells", id: ("fid", .int8),
    geometry: .init(
      name: "geom", srid: 4326,
      rule: GeometryColumn("geom", type: .multiPoint, z: .prohibited, m: .prohibited)),
    columns: [.init(source: 1, name: "name", type: .text(maximumLength: 3))])

  @Test func `a row has its id, its geometry and the columns of the plan`() throws {
    var encoder = CopyEncoder(Self.plan)
    var bytes: [UInt8] = []
    let point = WKB.bytes(of: .point(x: 1, y: 2))
    try encoder.encode(ValueRow(id: 7, [0, "ab"], wkb: point), to: &bytes)
    try encoder.encode(ValueRow(id: 8, [0, .null]), to: &bytes)
    #expect(
      bytes.hex == "0003" + "00000008" + "0000000000000007" + "00000022"
        + "0104000020e61000000100000001" + "01000000000000000000f03f0000000000000040"
        + "00000002" + "6162" + "0003" + "00000008" + "0000000000000008" + "ffffffff" + "ffffffff")
  }

  @Test func `geometries of one layer are looked at each for itself`() throws {
    var encoder = CopyEncoder(Self.plan)
    var bytes: [UInt8] = []
    let point = WKB.bytes(of: .point(x: 1, y: 2))
    let points = WKB.bytes(of: .multiPoint([Position(x: 1, y: 2)], .xy))
    for wkb in [point, points, point] {
      try encoder.encode(ValueRow(id: 7, [0, "ab"], wkb: wkb), to: &bytes)
    }
    let length = bytes.count / 3
    #expect(bytes[..<length] == bytes[length..<2 * length])
    #expect(bytes[..<length] == bytes[(2 * length)...])
    let line = WKB.bytes(of: .lineString(CoordinateSequence()))
    #expect(throws: FieldpackError.self) {
      try encoder.encode(ValueRow(id: 8, [0, "ab"], wkb: line), to: &bytes)
    }
    #expect(bytes.count == 3 * length)
  }

  private static var unfit: [(row: ValueRow, why: String)] {
    [
      (
        ValueRow(id: 7, [0, "abcd"]),
        "column 'name' of layer 'wells' is varchar(3) and cannot hold the value of feature 7"
      ),
      (
        ValueRow(id: "x", [0, "ab"]), "the id 'x' of a feature is no bigint, as layer 'wells' has"
      ),
      (
        ValueRow(id: 7, [0, "ab"], wkb: WKB.bytes(of: .lineString(CoordinateSequence()))),
        "layer 'wells' refuses the geometry of feature 7: the column takes MULTIPOINT, the feature has "
          + "LINESTRING"
      ),
      (
        ValueRow(id: 7, [0, "ab"], wkb: [1, 1]),
        "the geometry of feature 7 in layer 'wells': the bytes end before a geometry's header at byte 0"
      ),
    ]
  }

  @Test(arguments: 0..<4)
  func `a row that does not fit leaves nothing behind`(number: Int) throws {
    let (row, why) = Self.unfit[number]
    var encoder = CopyEncoder(Self.plan)
    var bytes: [UInt8] = [1]
    let error = #expect(throws: FieldpackError.self) { try encoder.encode(row, to: &bytes) }
    #expect(error?.message == why)
    #expect(error?.code == .invalidData)
    #expect(error?.location.layer == "wells" && error?.location.feature == row.id)
    #expect(bytes == [1])
  }
}
