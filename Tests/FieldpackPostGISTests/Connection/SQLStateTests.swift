import FieldpackCore
import Testing

@testable import FieldpackPostGIS

@Suite struct SQLStateTests {
  @Test(arguments: [
    ("08006", FieldpackError.Code.unavailable), ("0A000", .unsupported), ("22P02", .invalidData),
    ("22023", .invalidArgument), ("23505", .constraint), ("23503", .constraint),
    ("25006", .readOnly), ("25P03", .unavailable), ("28P01", .permission), ("28000", .permission),
    ("3D000", .notFound), ("3F000", .notFound), ("40001", .busy), ("40P01", .busy),
    ("42501", .permission), ("42601", .invalidArgument), ("42703", .notFound),
    ("42P01", .notFound), ("42P07", .cannotCreate), ("42701", .cannotCreate),
    ("44000", .constraint), ("53100", .full), ("53200", .unavailable), ("53300", .busy),
    ("54000", .invalidArgument), ("55P03", .busy), ("57P01", .unavailable),
    ("57P03", .unavailable), ("58030", .io), ("P0001", .constraint), ("XX000", .unsupported),
    ("XX001", .corrupt), ("ZZZZZ", .io), ("", .io),
  ])
  func `every class of errors has a code`(state: String, code: FieldpackError.Code) {
    #expect(SQLState(state).code == code)
  }
}

@Suite struct QuotedIdentifierTests {
  @Test(arguments: [
    ("wells", "\"wells\""), ("a\"b; DROP TABLE x", "\"a\"\"b; DROP TABLE x\""),
    ("select", "\"select\""), ("Größe \\ '", "\"Größe \\ '\""),
  ])
  func `names stand between quotes`(name: String, quotedName: String) throws {
    #expect(try quoted(identifier: name) == quotedName)
  }

  @Test func `names that PostgreSQL would cut are refused`() throws {
    let longest = String(repeating: "x", count: 63)
    #expect(try quoted(identifier: longest) == "\"\(longest)\"")
    let umlauts = String(repeating: "ü", count: 32)
    for name in ["", "a\0b", longest + "x", umlauts] {
      #expect { try quoted(identifier: name) } throws: {
        ($0 as? FieldpackError)?.code == .invalidArgument
      }
    }
    #expect {
      try quoted(identifier: umlauts)
    } throws: {
      ($0 as? FieldpackError)?.message
        == "the name '\(umlauts)' has 64 bytes, and names in PostgreSQL have at most 63"
    }
  }
}

@Suite struct ServerMessageTests {
  @Test func `texts of servers are one line without the password`() {
    let text = "cannot\n\u{1B}[31m sign in with hunter2 or hunter2\n"
    #expect(
      ServerMessage.plain(text, hiding: "hunter2") == "cannot  [31m sign in with … or …")
    let long = String(repeating: "a", count: 3_000)
    #expect(ServerMessage.plain(long, hiding: nil) == String(repeating: "a", count: 1_000) + "…")
  }
}
