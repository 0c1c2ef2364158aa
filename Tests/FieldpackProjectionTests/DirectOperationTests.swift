import CPROJ
import FieldpackGeometry
import Testing

@testable import FieldpackProjection

/// Formulas taken out of PROJ's pipelines, against the pipelines.
@Suite struct DirectOperationTests {
  @Test(arguments: [
    ("EPSG:4326", "EPSG:3857", true), ("EPSG:4326", "EPSG:32633", true),
    ("EPSG:4326", "EPSG:25833", true), ("EPSG:4326", "EPSG:2193", true),
    ("EPSG:4258", "EPSG:3035", true), ("EPSG:4979", "EPSG:3857", true),
    ("EPSG:3857", "EPSG:4326", true), ("EPSG:32633", "EPSG:4326", true),
    // Several operations; a unit beside degrees; two formulas; none; grads.
    ("EPSG:4326", "EPSG:27700", false), ("EPSG:4326", "EPSG:2263", false),
    ("EPSG:3857", "EPSG:32633", false), ("EPSG:4326", "EPSG:4258", false),
    ("EPSG:4807", "EPSG:27572", false),
  ])
  func `is found where one formula is all, and equal to the bit`(
    source: String, target: String, isDirect: Bool
  ) throws {
    let (from, to) = (try #require(SRS(source)), try #require(SRS(target)))
    let transformation = try CoordinateTransformation(from: from, to: to)
    let operation = try #require(transformation.operation)
    #expect((operation.direct != nil) == isDirect)
    var ordinates: [Double] = []
    let scale = operation.takesDegrees ? 1.0 : 1e5
    for x in stride(from: -199.0, through: 199, by: 1.7) {
      for y in stride(from: -97.0, through: 97, by: 1.3) { ordinates += [x * scale, y * scale, 8] }
    }
    ordinates += [.infinity, 0, 0, 0, 90, 0, 0, -90, 0, 180, 0, 0, -180, 0, 0, -0.0, -0.0, 0]
    var piped = ordinates
    let count = piped.count / 3
    piped.withUnsafeMutableBufferPointer { buffer in
      guard let base = buffer.baseAddress else { return }
      StridedPositions(x: base, y: base + 1, z: base + 2, step: 3, count: count)
        .transform(by: operation.object, PJ_FWD)
    }
    let failed = Set(transformation.transform(&ordinates, dimensions: .xyz))
    for index in 0..<count {
      let found = ordinates[3 * index..<3 * index + 3]
      let expected = piped[3 * index..<3 * index + 3]
      if failed.contains(index) {
        #expect(expected.contains { !$0.isFinite })
      } else {
        #expect(found.map { $0.bitPattern } == expected.map { $0.bitPattern })
      }
    }
  }
}
