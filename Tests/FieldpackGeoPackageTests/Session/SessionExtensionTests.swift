import FieldpackCore
import FieldpackSQLite
import Testing

@testable import FieldpackGeoPackage

@Suite struct SessionExtensionTests {
  private final class Counting: SessionExtension {
    let place: String

    init(on session: GeoPackageSession) throws(SQLiteError) {
      place = "on \(session.store)"
      try session.connection.register(function: "counted", arguments: 0) { $0.set(Int64(1)) }
    }
  }

  private final class Other: SessionExtension {
    init(on session: GeoPackageSession) throws(SQLiteError) {
      throw SQLiteError(extendedCode: 1, message: "not today")
    }
  }

  @Test func `an extension is installed at the first call, once a session`() throws {
    let connection = try Connection(inMemory: .own)
    let session = try connection.session("survey")
    #expect(throws: SQLiteError.self) { try connection.prepare("SELECT counted()") }
    let first = try session.installed(Counting.self)
    #expect(first.place == "on survey")
    #expect(throws: SQLiteError.self) { try session.installed(Other.self) }
    #expect(try session.installed(Counting.self) === first)
    #expect(try connection.scalar("SELECT counted()") == .integer(1))
    let other = try Connection(inMemory: .own)
    #expect(try other.session("other").installed(Counting.self) !== first)
  }
}
