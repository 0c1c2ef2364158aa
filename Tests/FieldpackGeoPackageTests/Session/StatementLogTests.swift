import Testing

@testable import FieldpackGeoPackage

@Suite struct StatementLogTests {
  private static let statements: [(String, String)] = [
    ("SELECT a FROM t WHERE b = 'it''s' AND c > 1.5e-3", "SELECT a FROM t WHERE b = ? AND c > ?-?"),
    ("SELECT \"a 'b' 1\", t2.c3 FROM t2", "SELECT \"a 'b' 1\", t2.c3 FROM t2"),
    ("SELECT x'00ff', -4, .5", "SELECT x?, -?, .5"),
    ("SELECT 1 -- secret 'x'\n, 2 /* more */", "SELECT ? \n, ? "),
    ("SELECT 'open", "SELECT ?"), ("/* open", ""), ("", ""),
    ("INSERT INTO `t``x` VALUES (?, ?1, :name)", "INSERT INTO `t``x` VALUES (?, ??, :name)"),
  ]

  @Test(arguments: statements)
  func `a statement is logged without its values`(sql: String, logged: String) {
    #expect(StatementLog.withoutLiterals(sql) == logged)
  }
}
