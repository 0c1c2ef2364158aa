import FieldpackCore
import FieldpackGeometry
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackGeoPackage

/// Queries that differ in their number or box alone, one after the other on one connection.
@Suite struct RepeatedQueryTests {
  /// The names of the rows; `then` runs at each.
  private struct Names: FeatureSink {
    var columns: [String] = []
    var names: [String] = []
    var then: () throws(FieldpackError) -> Void = {}

    mutating func begin(_ schema: Schema) throws(FieldpackError) {
      columns = schema.columns.map(\.name)
    }

    mutating func feature(
      _ row: borrowing some FeatureRow & ~Copyable
    ) throws(FieldpackError) {
      names.append(
        row.withBytes(at: 0) { $0.withUnsafeBytes { String(decoding: $0, as: UTF8.self) } })
      try then()
    }
  }

  private func package() async throws -> TestPackage {
    let points = (1...9).map { number in
      Feature(
        geometry: .point(x: Double(number), y: 0), attributes: ["name": .text("p\(number)")])
    }
    return try await TestPackage(points: points, "")
  }

  private static func id(_ number: Int) -> Query {
    Query("points", where: Column<Int64>("fid") == Int64(number)).limit(1)
  }

  private static func box(_ number: Int) -> Query {
    let box = Envelope(
      minX: Double(number) - 0.5, minY: -1, maxX: Double(number) + 1.5, maxY: 1)
    return Query("points", where: .envelope(.intersects, box)).order(by: [Order("name")]).limit(9)
  }

  @Test func `each query gets its own rows`() async throws {
    let package = try await package()
    try await package.withStore { store in
      try await store.read { (snapshot: GeoPackageSnapshot) throws(FieldpackError) in
        for number in [3, 1, 9, 20, 2, 2] {
          var (one, two) = (Names(), Names())
          try snapshot.scan(Self.id(number), into: &one)
          try snapshot.scan(Self.box(number), into: &two)
          #expect(one.names == (number < 10 ? ["p\(number)"] : []))
          #expect(two.names == (number..<number + 2).filter { $0 < 10 }.map { "p\($0)" })
          #expect(one.columns == ["name"])
        }
      }
    }
  }

  @Test func `a query in the middle of another has a cursor of its own`() async throws {
    let package = try await package()
    try await package.withStore { store in
      try await store.read { (snapshot: GeoPackageSnapshot) throws(FieldpackError) in
        var warm = Names()
        try snapshot.scan(Self.box(1), into: &warm)
        var inner: [String] = []
        var outer = Names()
        outer.then = { () throws(FieldpackError) in
          var names = Names()
          try snapshot.scan(Self.box(5), into: &names)
          inner += names.names
        }
        try snapshot.scan(Self.box(1), into: &outer)
        #expect(outer.names == ["p1", "p2"])
        #expect(inner == ["p5", "p6", "p5", "p6"])
      }
    }
  }

  @Test func `an error in the middle and a new column leave nothing behind`() async throws {
    let package = try await package()
    try await package.withStore { store in
      func names(_ number: Int) async throws -> (names: [String], columns: [String]) {
        try await store.read { (snapshot: GeoPackageSnapshot) throws(FieldpackError) in
          var names = Names()
          try snapshot.scan(Self.id(number), into: &names)
          return (names.names, names.columns)
        }
      }
      #expect(try await names(1).names == ["p1"])
      await #expect(throws: FieldpackError.self) {
        try await store.read { (snapshot: GeoPackageSnapshot) throws(FieldpackError) in
          var failing = Names()
          failing.then = { () throws(FieldpackError) in throw FieldpackError(.full, "enough") }
          try snapshot.scan(Self.id(2), into: &failing)
        }
      }
      #expect(try await names(3).names == ["p3"])
      try package.run("ALTER TABLE points ADD COLUMN depth REAL")
      let changed = try await names(4)
      #expect(changed.names == ["p4"])
      #expect(changed.columns == ["name", "depth"])
    }
  }
}
