import FieldpackCore
import FieldpackGeometry
import FieldpackTestSupport
import Testing

@testable import FieldpackGeoPackage

/// What each type of column takes, gives back and refuses.
@Suite struct ColumnValueTests {
  struct Case: Sendable, CustomStringConvertible {
    let type: ColumnType
    let value: Value
    /// What comes back; `nil` where the value is refused.
    let stored: Value?

    init(_ type: ColumnType, _ value: Value, _ stored: Value?) {
      (self.type, self.value, self.stored) = (type, value, stored)
    }

    static func kept(_ type: ColumnType, _ values: Value...) -> [Case] {
      values.map { Case(type, $0, $0) }
    }

    static func refused(_ type: ColumnType, _ values: Value...) -> [Case] {
      values.map { Case(type, $0, nil) }
    }

    var description: String { "\(type.sql) \(value)" }
  }

  private static let day = Value.date(CalendarDate(dayNumber: 18_321))
  private static let instant = Value.dateTime(Instant(milliseconds: 1_583_064_000_001))

  static let cases: [Case] =
    Case.kept(.boolean, true, false) + [Case(.boolean, 1, true), Case(.boolean, 0, false)]
    + Case.refused(.boolean, 2, 1.0, "true", day)
    + Case.kept(.tinyInt, -128, 127) + Case.refused(.tinyInt, 128, -129, 1.5, "1")
    + Case.kept(.smallInt, -32_768, 32_767) + Case.refused(.smallInt, 32_768, -32_769)
    + Case.kept(.mediumInt, -2_147_483_648, 2_147_483_647)
    + Case.refused(.mediumInt, 2_147_483_648, .real(1e10))
    + Case.kept(.integer, .integer(.min), .integer(.max))
    + [Case(.integer, 3.0, 3), Case(.integer, true, 1)]
    + Case.refused(.integer, 0.5, .real(.infinity), .real(0x1p63), "7", .blob([]))
    + Case.kept(.double, .real(.infinity), -0.0, .real(.leastNonzeroMagnitude), 1e308)
    + Case.kept(.float, 0.1)
    + [
      Case(.double, 7, 7.0), Case(.double, .real(.nan), .null),
      Case(.double, .integer(1 << 53), .real(0x1p53)),
    ]
    + Case.refused(.double, .integer(1 << 53 + 1), "1.5", true)
    + Case.kept(.text(), "", "a\u{0}b", "e\u{301} 🗺 \n'\"", "2020-01-01", "12")
    + [Case(.text(), day, "2020-02-29"), Case(.text(), instant, "2020-03-01T12:00:00.001Z")]
    + Case.refused(.text(), 1, 1.5, true, .blob([1]))
    + Case.kept(.text(maximumLength: 3), "äöü", "🗺🗺🗺")
    + Case.refused(.text(maximumLength: 3), "abcd", day)
    + Case.kept(.blob(), .blob([]), .blob([0, 1, 255])) + Case.refused(.blob(), "text", 1)
    + Case.kept(.blob(maximumLength: 2), .blob([1, 2]))
    + Case.refused(.blob(maximumLength: 2), .blob([1, 2, 3]))
    + Case.kept(.date, day) + [Case(.date, "2020-02-29", day)]
    + Case.refused(.date, "2020-02-30", "soon", instant, 18_321)
    + Case.kept(.dateTime, instant, .dateTime(Instant(milliseconds: 0)))
    + [Case(.dateTime, "2020-03-01T13:00:00.001+01:00", instant)]
    + Case.refused(.dateTime, "2020-03-01", "noon", day, 1_583_064_000)
    + Case.kept(.json, "{\"a\":[1,2.50]}") + Case.refused(.json, 1)

  private static let types: [ColumnType] = cases.reduce(into: []) { types, example in
    if !types.contains(example.type) { types.append(example.type) }
  }

  private static func package() async throws -> TestPackage {
    let package = try TestPackage()
    let columns = types.map { ColumnDefinition($0.sql + " \($0 == .json)", $0) }
    try await package.withStore { store in
      try await store.write { (writer) throws(FieldpackError) in
        try writer.createLayer(Schema(layer: "values", columns: columns))
      }
    }
    return package
  }

  @Test func `keeps, converts and refuses`() async throws {
    let package = try await Self.package()
    let store = try await package.store()
    for example in Self.cases {
      let name = example.type.sql + " \(example.type == .json)"
      do {
        let id = try await store.write { (writer) throws(FieldpackError) in
          let id = try writer.create(Feature(attributes: [name: example.value]), in: "values")
          try writer.update(id, in: "values", set: [name: .null])
          try writer.update(id, in: "values", set: [name: example.value])
          return id
        }
        let found = try await store.feature(id, in: "values")?.attributes[name]
        #expect(found == example.stored, "\(example)")
      } catch {
        #expect(error.code == .invalidData, "\(example): \(error)")
        #expect(example.stored == nil, "\(example): \(error)")
      }
    }
    await store.close()
    #expect(try package.faults() == [])
  }

  @Test func `gives the types back as they were declared`() async throws {
    let package = try await Self.package()
    let store = try await package.store()
    let layer = try #require(try await store.layers().first)
    #expect(layer.schema.columns.map(\.type) == Self.types)
    await store.close()
  }

  @Test func `keeps texts that are no moments as they are`() async throws {
    let package = try await Self.package()
    try package.run(
      """
      INSERT INTO "values" ("DATE false", "DATETIME false") VALUES ('soon', '2020-03-01 12:00'),
        (20200301, '2020-03-01T12:00:00.1234Z'), ('2020-03-01T00:00:00Z', x'00')
      """)
    let store = try await package.store()
    let features = try await store.features(Query("values").select("DATE false", "DATETIME false"))
    #expect(
      features.map(\.attributes) == [
        ["DATE false": "soon", "DATETIME false": "2020-03-01 12:00"],
        ["DATE false": 20_200_301, "DATETIME false": "2020-03-01T12:00:00.1234Z"],
        ["DATE false": "2020-03-01T00:00:00Z", "DATETIME false": .blob([0])],
      ])
    await store.close()
  }
}
