import FieldpackGeometry
import FieldpackTopology
import Testing

@testable import FieldpackTopology

/// Proofs that geometries are valid, compared with GEOS.
@Suite struct ValidityProofTests {
  private func proves(_ wkt: String) throws -> Bool {
    var proof = ValidityProof()
    return proof.proves(WKB.bytes(of: try WKT.read(wkt)).span.bytes)
  }

  @Test(arguments: [
    "POLYGON ((0 0,4 0,4 4,0 4,0 0))", "POLYGON ((0 0,2 0,4 0,4 4,4 4,0 4,0 0))",
    "POLYGON ((0 0,9 0,9 9,0 9,0 0),(1 1,2 1,2 2,1 1),(4 4,4 6,6 6,4 4))",
    "MULTIPOLYGON (((0 0,1 0,1 1,0 0)),((2 0,3 0,3 1,2 0)))", "POINT (1 2)", "MULTIPOINT (1 1,1 1)",
    "LINESTRING (0 0,1 1,1 0,0 1)", "POLYGON Z ((0 0 1,4 0 2,4 4 3,0 0 1))",
    "POLYGON ((0 0,5 5,5 0,4 3,0 0))",
  ])
  func `plain geometries are proved valid`(wkt: String) throws {
    #expect(try WKT.read(wkt).validity() == .valid)
    #expect(try proves(wkt))
  }

  @Test(arguments: [
    "POLYGON ((0 0,2 2,2 0,0 2,0 0))", "POLYGON ((0 0,4 0,2 0,2 2,0 0))",
    "POLYGON ((0 0,4 0,4 4,0 4,0 0),(5 5,6 5,6 6,5 5))",
    "POLYGON ((0 0,4 0,4 4,0 4,0 0),(1 1,3 1,3 3,1 1),(1.5 1.2,2 1.2,2 1.4,1.5 1.2))",
    "MULTIPOLYGON (((0 0,4 0,4 4,0 0)),((1 0.5,3 0.5,3 1,1 0.5)))",
    "POLYGON ((0 0,4 0,4 4,2 0,0 4,0 0))", "LINESTRING (1 1,1 1)",
    "POLYGON ((0 0,2 0,2 0,0 0))",
  ])
  func `nothing invalid is proved`(wkt: String) throws {
    #expect(try !proves(wkt))
  }

  @Test func `what is proved valid is valid for GEOS`() throws {
    var random = SystemRandomNumberGenerator()
    let context = try TopologyContext()
    var proved = 0
    for round in 0..<3_000 {
      // Few values of ordinates make edges that touch, and corners that meet.
      let size = [4, 12, 1_000][round % 3]
      let ring = (0..<Int.random(in: 3...9, using: &random)).map { _ in
        Position(
          x: Double(Int.random(in: 0..<size, using: &random)),
          y: Double(Int.random(in: 0..<size, using: &random)))
      }
      let polygon = Geometry.polygon(
        [CoordinateSequence(ring + ring.prefix(1), dimensions: .xy)], .xy)
      let wkb = WKB.bytes(of: polygon)
      var proof = ValidityProof()
      let isProved = proof.proves(wkb.span.bytes)
      let isValid = try context.read(wkb: wkb).isValid()
      #expect(isValid || !isProved, "\(WKT.text(of: polygon))")
      if size == 1_000 { #expect(isProved == isValid, "\(WKT.text(of: polygon))") }
      if isProved { proved += 1 }
    }
    #expect(proved > 100)
  }
}
