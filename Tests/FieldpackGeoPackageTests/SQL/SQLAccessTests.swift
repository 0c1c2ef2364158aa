import FieldpackCore
import FieldpackGeometry
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackGeoPackage
@testable import FieldpackSQL

/// SQL of the library's users.
@Suite struct SQLAccessTests {
  private let package: TestPackage

  init() throws {
    let points = Schema(
      layer: "points", geometry: GeometryColumn(type: .point),
      columns: [ColumnDefinition("n", .integer)])
    package = try TestPackage(named: "a.gpkg", [points])
  }

  private func store() async throws -> GeoPackageStore {
    let store = try await package.store(as: "a")
    try await store.write { (writer) throws(FieldpackError) in
      for number in 0..<3_000 {
        let feature = Feature(
          geometry: .point(x: Double(number), y: 0), attributes: ["n": .integer(Int64(number))])
        try writer.create(feature, in: "points")
      }
    }
    return store
  }

  @Test func `rows come in batches of 1,024`() async throws {
    let store = try await store()
    var sizes: [Int] = []
    var sum: Int64 = 0
    for try await batch in store.rows(sql: "SELECT n, 'x' AS t FROM points") {
      #expect(batch.columns == ["n", "t"])
      sizes.append(batch.rows.count)
      for row in batch.rows {
        if case .integer(let number) = row[0] { sum += number }
      }
    }
    #expect(sizes == [1024, 1024, 952])
    #expect(sum == 2999 * 1500)
    await store.close()
  }

  @Test func `a query that was left early does not keep others from writing`() async throws {
    let store = try await store()
    do {
      let rows = store.rows(sql: "SELECT * FROM points").makeAsyncIterator()
      #expect(try await rows.next()?.rows.count == 1024)
    }
    let outcomes = try await store.run(sql: "DELETE FROM points WHERE n >= 10")
    #expect(outcomes == [SQLOutcome(columns: [], rows: [], changes: 2990)])
    #expect(try await store.count(Query("points")) == 10)
    #expect(try await store.layers().map(\.envelope?.maxX) == [9])
    await store.close()
  }

  @Test func `closing ends a query that is being read`() async throws {
    let store = try await store()
    let rows = store.rows(sql: "SELECT * FROM points").makeAsyncIterator()
    #expect(try await rows.next()?.rows.count == 1024)
    await store.close()
    let error = await #expect(throws: FieldpackError.self) { try await rows.next() }
    #expect(error?.code == .unavailable)
  }

  @Test func `reading is held to reading`() async throws {
    let store = try await store()
    for sql in ["DELETE FROM points", "CREATE TEMP TABLE x (a)", "VACUUM", "BEGIN; DELETE FROM x"] {
      let error = await #expect(throws: FieldpackError.self) {
        for try await _ in store.rows(sql: sql) {}
      }
      #expect(error.map { [.readOnly, .invalidArgument].contains($0.code) } == true)
    }
    // The connections are free again.
    #expect(try await store.count(Query("points")) == 3_000)
    await store.close()
  }
}
