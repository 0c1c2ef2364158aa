import FieldpackCore
import FieldpackGeometry
import FieldpackStoreKit
import Testing

/// Patterns and distances of rows in memory.
@Suite struct FilterEvaluatorExactTests {
  private func answer(
    _ filter: Filter, _ geometry: Geometry?, srs: SRS = .wgs84
  ) throws -> Bool? {
    let schema = Schema(layer: "places", geometry: GeometryColumn(srs: srs))
    var batch = FeatureBatch(store: "memory", schema: schema)
    batch.append(ValueRow(Feature(geometry: geometry), id: .integer(1), schema: schema))
    return try filter.evaluate(batch[0], schema: schema)
  }

  @Test func `distances and patterns answer as in a store`() throws {
    let point = Geometry.point(x: 179.99, y: 0)
    let other = Geometry.point(x: -179.99, y: 0)
    #expect(try answer(.isWithin(2_227, of: point), other) == true)
    #expect(try answer(.isWithin(2_226, of: point), other) == false)
    #expect(try answer(.isWithin(2_227, of: point, metric: .planar), other) == true)
    #expect(try answer(.isWithin(300, of: point, metric: .planar), other) == false)
    #expect(try answer(.isWithin(1, of: point), nil) == nil)
    #expect(try answer(.isWithin(1, of: point), .point(nil, .xy)) == nil)
    #expect(try answer(.relates(to: point, pattern: "0********"), point) == true)
    #expect(try answer(.relates(to: point, pattern: "0********"), other) == false)
    #expect(try answer(.relation(.coveredBy, point), point) == true)
  }
}
