import FieldpackCore
import Testing

@Suite struct ColumnTypeTests {
  @Test(arguments: [
    ("BOOLEAN", ColumnType.boolean), ("TINYINT", .tinyInt), ("SMALLINT", .smallInt),
    ("MEDIUMINT", .mediumInt), ("INTEGER", .integer), ("FLOAT", .float), ("REAL", .double),
    ("TEXT", .text()), ("TEXT(20)", .text(maximumLength: 20)), ("BLOB", .blob()),
    ("BLOB(5)", .blob(maximumLength: 5)), ("DATE", .date), ("DATETIME", .dateTime),
    ("VARCHAR(10)", .other("VARCHAR(10)")), ("double precision", .other("double precision")),
    ("TEXT(-5)", .other("TEXT(-5)")), ("TEXT()", .other("TEXT()")), ("", .other("")),
    ("TEXT(99999999999999999999)", .other("TEXT(99999999999999999999)")),
    ("TEXT)", .other("TEXT)")), ("INT(4)", .other("INT(4)")),
  ])
  func `a declaration reads and writes`(sql: String, type: ColumnType) {
    #expect(ColumnType(sql: sql) == type)
    #expect(type.sql == sql)
  }

  @Test(arguments: [
    ("int", ColumnType.integer), ("Double", .double), ("text ( 20 )", .text(maximumLength: 20)),
    ("datetime", .dateTime), ("Boolean", .boolean),
  ])
  func `case and blanks do not matter`(sql: String, type: ColumnType) {
    #expect(ColumnType(sql: sql) == type)
  }

  @Test func `JSON is declared as text`() { #expect(ColumnType.json.sql == "TEXT") }

  @Test(arguments: [
    (ColumnType.boolean, Value.integer(0), Value.boolean(false)),
    (.boolean, 1, true), (.boolean, 2, 2), (.boolean, "true", "true"), (.boolean, nil, nil),
    (.date, "2020-02-29", .date(CalendarDate(dayNumber: 18321))),
    (.date, "2021-02-29", "2021-02-29"), (.date, 20_200_229, 20_200_229),
    (.dateTime, "1970-01-01T01:00:00+01:00", .dateTime(Instant(milliseconds: 0))),
    (.dateTime, "1970-01-01T00:00:00", "1970-01-01T00:00:00"),
    (.dateTime, "1970-01-01T00:00:00.0001Z", "1970-01-01T00:00:00.0001Z"),
    (.dateTime, "1970-01-01", "1970-01-01"), (.text(), "2020-02-29", "2020-02-29"),
    (.integer, 1, 1), (.double, 1.5, 1.5), (.blob(), .blob([1]), .blob([1])),
  ])
  func `a stored value is read by its column's type`(
    type: ColumnType, stored: Value, value: Value
  ) {
    #expect(type.value(stored) == value)
  }
}
