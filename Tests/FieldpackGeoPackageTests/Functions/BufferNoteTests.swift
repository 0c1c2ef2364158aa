import FieldpackCore
import FieldpackSQL
import FieldpackTestSupport
import Testing

@testable import FieldpackGeoPackage

/// What a user is told of buffers whose distance is probably meant in metres.
@Suite struct BufferNoteTests {
  @Test(arguments: [
    (
      "SELECT ST_Area(ST_Buffer(ST_Point(7, 47, 4326), 100)) UNION ALL "
        + "SELECT ST_Area(ST_Buffer(ST_Point(8, 47, 4326), 100, 4))",
      [
        "ST_Buffer() buffers by 100.0 degrees here, the unit of srs_id 4326. "
          + "Try: ST_GeodesicBuffer(…) for metres"
      ]
    ),
    ("SELECT ST_Area(ST_Buffer(ST_Point(7, 47, 4326), 1))", []),
    ("SELECT ST_Area(ST_Buffer(ST_Point(7, 47, 3857), 100))", []),
    ("SELECT ST_Area(ST_Buffer(ST_Point(7, 47), 100))", []),
    ("SELECT ST_Area(ST_GeodesicBuffer(ST_Point(7, 47, 4326), 100))", []),
  ])
  func `more than one degree is noted once`(sql: String, notes: [String]) async throws {
    let package = try TestPackage()
    let store = try await package.store()
    var found: [String] = []
    for try await batch in store.rows(sql: sql) { found += batch.notes }
    #expect(found == notes)
    #expect(try await store.run(sql: sql).flatMap(\.notes) == notes)
    await store.close()
  }

  @Test func `metres reach as far in a projected system`() async throws {
    let package = try TestPackage()
    let store = try await package.store()
    let point = "ST_Transform(ST_Point(13, 52, 4326), 3857)"
    let sql =
      "SELECT ST_GeodesicDistance(\(point), ST_Boundary(ST_GeodesicBuffer(\(point), 500))), "
      + "ST_SRID(ST_GeodesicBuffer(\(point), 500))"
    for try await batch in store.rows(sql: sql) {
      guard case .real(let metres) = batch.rows[0][0] else {
        Issue.record("no distance")
        return
      }
      #expect(abs(metres - 500) < 3)
      #expect(batch.rows[0][1] == .integer(3857))
    }
    await store.close()
  }
}
