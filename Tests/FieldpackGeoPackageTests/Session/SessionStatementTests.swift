import FieldpackCore
import FieldpackSQLite
import Testing

@testable import FieldpackGeoPackage

@Suite struct SessionStatementTests {
  private func package() throws -> TestPackage {
    try TestPackage(
      .v14,
      [
        Schema(
          layer: "wells",
          columns: [ColumnDefinition("name", .text(), isNullable: false), .init("data", .blob())])
      ])
  }

  @Test func `errors name the file, the store, the layer and the feature`() throws {
    try package().withSession { session in
      let insert = try session.prepare(
        "INSERT INTO wells (name) VALUES (?)", [.null], in: "wells", feature: .integer(7))
      let refused = #expect(throws: FieldpackError.self) { try insert.run() }
      #expect(refused?.code == .constraint)
      #expect(
        refused?.location == .init(store: session.store, layer: "wells", feature: .integer(7)))
      #expect(refused?.position == FilePosition(file: session.path))
      let unknown = #expect(throws: FieldpackError.self) {
        _ = try session.prepare("SELECT 1 FROM nowhere", in: "wells")
      }
      #expect(unknown?.message == "no such table: nowhere")
      #expect(unknown?.location == .init(store: session.store, layer: "wells"))
    }
  }

  @Test func `nil binds NULL, and a lent blob is let go after the run`() throws {
    try package().withSession { session in
      let values = try session.prepare("SELECT ?, ?, ?, ?")
      for index in 1...4 { try values.bind(index, at: index) }
      try values.bind(nil as Int?, at: 1)
      try values.bind(nil as Int64?, at: 2)
      try values.bind(nil as Double?, at: 3)
      try values.bind(nil as String?, at: 4)
      #expect(try values.step())
      #expect(values.row.values == [.null, .null, .null, .null])
      values.reset()
      let insert = try session.prepare("INSERT INTO wells (name, data) VALUES (?, ?)")
      let bytes: [UInt8] = [1, 2, 3]
      try insert.bind("Markt 41", at: 1)
      try insert.run(lending: bytes.span.bytes, at: 2)
      try insert.bind("Ritterstraße 1", at: 1)
      try insert.run()
      #expect(
        try session.rows("SELECT name, data FROM wells")
          == [[.text("Markt 41"), .blob(bytes)], [.text("Ritterstraße 1"), .null]])
    }
  }
}
