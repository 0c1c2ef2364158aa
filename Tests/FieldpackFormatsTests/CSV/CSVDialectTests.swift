import FieldpackCore
import FieldpackFormats
import FieldpackGeometry
import Foundation
import Testing

@Suite struct CSVDialectTests {
  // MARK: Encoding

  /// Bytes of Latin letters in one encoding each, with the word that they are.
  static let western: [([UInt8], String)] = [
    ([0x4B, 0xF6, 0x6C, 0x6E], "Köln"),
    ([0x45, 0x73, 0x74, 0x61, 0x63, 0x69, 0xF3, 0x6E], "Estación"),
    ([0x32, 0x30, 0x20, 0xB0, 0x43], "20 °C"), ([0x31, 0x20, 0x6D, 0xB2], "1 m²"),
    ([0xE0, 0x20, 0x6C, 0x92, 0xE9, 0x74, 0xE9], "à l’été"),
    ([0x50, 0x6F, 0xE7, 0xF5, 0x65, 0x73], "Poções"), ([0x31, 0x20, 0x80], "1 €"),
  ]

  @Test(arguments: western.indices) func `Western letters are read as Windows-1252`(
    index: Int
  ) throws {
    let (bytes, word) = Self.western[index]
    let reading = try readCSV(bytes: Array("a;b\n".utf8) + bytes + Array(";1\n".utf8))
    #expect(reading.features("test").map(\.attributes) == [["a": .text(word), "b": 1]])
    #expect(
      reading.result.notes == [Note("the file was read as windows-1252", advice: .nameEncoding)])
  }

  /// Polish, Czech, Russian, Hungarian and DOS's German, and UTF-8 that is cut.
  static let unclear: [(encoding: String, bytes: [UInt8], word: String)] = [
    ("windows-1250", [0xA3, 0xF3, 0x64, 0x9F], "Łódź"),
    ("iso-8859-2", [0xF8, 0x65, 0x6B, 0x61], "řeka"),
    ("windows-1251", [0xD0, 0xE5, 0xEA, 0xE0], "Река"),
    ("windows-1250", [0x65, 0x72, 0x64, 0xF5], "erdő"),
    ("cp850", [0x42, 0x84, 0x72], "Bär"), ("koi8-r", [0xF2, 0xC5, 0xCB, 0xC1], "Река"),
  ]

  @Test(arguments: unclear.indices) func `other letters need the encoding's name`(
    index: Int
  ) throws {
    let (encoding, bytes, word) = Self.unclear[index]
    let file = Array("a;b\n".utf8) + bytes + Array(";1\n".utf8)
    let error = #expect(throws: FieldpackError.self) { try readCSV(bytes: file) }
    #expect(error?.message == "the row is not UTF-8")
    #expect(error?.advice == .nameEncoding)
    let reading = try readCSV(bytes: file) { $0.csv.encoding = encoding }
    #expect(reading.features("test").map(\.attributes) == [["a": .text(word), "b": 1]])
    #expect(reading.result.notes == [])
  }

  @Test func `UTF-8 with a damaged row stays UTF-8`() throws {
    let file = Array("a,b\nKöln,1\n".utf8) + [0x4B, 0xF6, 0x2C, 0x32, 0x0A]
    let reading = try readCSV(bytes: file) { $0.skipsErrors = true }
    #expect(reading.values("test", "a") == ["Köln"])
    #expect(reading.result.skipped.listed.map(\.reason) == ["the row is not UTF-8"])
  }

  @Test(arguments: [String.Encoding.utf16LittleEndian, .utf16BigEndian])
  func `UTF-16 is read by its mark`(encoding: String.Encoding) throws {
    let rows = (0..<40_000).map { "Köln €😀,\($0)\r\n" }.joined()
    let bytes = try #require(("\u{FEFF}a,b\r\n" + rows).data(using: encoding))
    let reading = try readCSV(bytes: Array(bytes))
    #expect(reading.columns("test") == ["a TEXT", "b INTEGER"])
    #expect(reading.values("test", "b") == (0..<40_000).map { .integer(Int64($0)) })
    #expect(Set(reading.values("test", "a")) == ["Köln €😀"])
    let name = encoding == .utf16BigEndian ? "UTF-16BE" : "UTF-16LE"
    #expect(reading.result.notes == [Note("the file was read as \(name)", advice: .nameEncoding)])
  }

  @Test func `an encoding has to be known, and the text in it`() throws {
    let unknown = #expect(throws: FieldpackError.self) {
      try readCSV("a\n1\n") { $0.csv.encoding = "klingon" }
    }
    #expect(unknown?.message == "the encoding 'klingon' is not known")
    let wrong = #expect(throws: FieldpackError.self) {
      try readCSV(bytes: Array("a\nK".utf8) + [0xF6, 0x0A]) { $0.csv.encoding = "ascii" }
    }
    #expect(wrong?.message == "the text is not in ascii")
    #expect(try readCSV("a\nKöln\n") { $0.csv.encoding = "UTF-8" }.values("test", "a") == ["Köln"])
  }

  // MARK: Numbers and dates

  static let decimals: [(text: String, columns: [String], note: String?)] = [
    ("a;b\n1,5;2\n-0,125;3\n", ["a REAL", "b INTEGER"], "1,5"),
    ("a\tb\n12345,125\tx\n", ["a REAL", "b TEXT"], "12345,125"),
    // Thousands, a point elsewhere, a comma as delimiter.
    ("a;b\n1,234;2\n", ["a TEXT", "b INTEGER"], nil),
    ("a;b\n1,5;2.5\n", ["a TEXT", "b REAL"], nil),
    ("a,b\n\"1,5\",2\n", ["a TEXT", "b INTEGER"], nil),
    ("a;b\n1,5;1.234,5\n", ["a REAL", "b TEXT"], "1,5"),
  ]

  @Test(arguments: decimals.indices) func `a decimal comma is found where nothing else is meant`(
    index: Int
  ) throws {
    let (text, columns, example) = Self.decimals[index]
    let reading = try readCSV(text)
    #expect(reading.columns("test") == columns)
    let note = example.map {
      Note(
        "numbers such as '\($0)' were read with a decimal comma", advice: .nameDecimalSign("."))
    }
    #expect(reading.result.notes == [note].compactMap { $0 })
  }

  @Test func `the decimal sign may be given`() throws {
    let comma = try readCSV("a,b\n\"1,234\",\"x,y\"\n") { $0.csv.decimalSign = .comma }
    #expect(comma.features("test").map(\.attributes) == [["a": 1.234, "b": "x,y"]])
    #expect(comma.result.notes == [])
    let point = try readCSV("a;b\n1,5;2\n") { $0.csv.decimalSign = .point }
    #expect(point.features("test").map(\.attributes) == [["a": "1,5", "b": 2]])
  }

  @Test func `coordinates have the decimal comma, too`() throws {
    let reading = try readCSV("lat;long\n48,25;11,5\n")
    #expect(reading.features("test").map(\.geometry) == [.point(x: 11.5, y: 48.25)])
    #expect(
      CSVReaderTests.failure("x;y\n1,234;5,678\n") { _ in }
        == "invalidData 2 the coordinate '1,234' is not a number CSVOptions.decimalSign = .comma")
    #expect(
      CSVReaderTests.failure("x;y\n1.234;5\n") { $0.csv.decimalSign = .comma }
        == "invalidData 2 the coordinate '1.234' is not a number CSVOptions.decimalSign = .point")
  }

  static let dates: [(format: String, values: String, type: String, stored: [Value])] = [
    (
      "%d.%m.%Y", "1.5.2024|02.05.2024|2024-05-03", "DATE",
      ["2024-05-01", "2024-05-02", "2024-05-03"].map { .date(CalendarDate($0)!) }
    ),
    (
      "%d/%m/%y", "25/06/05|31/12/99", "DATE",
      ["2005-06-25", "1999-12-31"].map { .date(CalendarDate($0)!) }
    ),
    ("%Y%m%d", "20240501", "DATE", [.date(CalendarDate("2024-05-01")!)]),
    (
      "%m/%d/%Y %H:%M", "5/1/2024 9:30", "DATETIME",
      [.dateTime(Instant("2024-05-01T09:30:00Z")!)]
    ),
    ("%d.%m.%Y", "31.02.2024", "TEXT", ["31.02.2024"]),
    ("%d.%m.%Y", "01.05.2024|soon", "TEXT", ["01.05.2024", "soon"]),
  ]

  @Test(arguments: dates.indices) func `dates are read in the form given`(index: Int) throws {
    let (format, values, type, stored) = Self.dates[index]
    let rows = values.split(separator: "|").map { "\($0);x\n" }.joined()
    let reading = try readCSV("d;v\n" + rows) { $0.csv.dateFormat = format }
    #expect(reading.columns("test") == ["d \(type)", "v TEXT"])
    #expect(reading.values("test", "d") == stored)
  }

  @Test(arguments: ["%d.%m", "%Y-%m-%d %M", "%d.%m.%q", "%d%d%m%Y", "%", "dd.mm.yyyy"])
  func `a date format without a date is refused`(format: String) {
    let error = #expect(throws: FieldpackError.self) {
      try readCSV("a\n1\n") { $0.csv.dateFormat = format }
    }
    #expect(error?.code == .invalidArgument)
  }

  // MARK: Rows

  @Test func `a delimiter at the end of lines makes no column`() throws {
    let header = try readCSV("a;b;\n1;2\n3;4\n")
    #expect(header.columns("test") == ["a INTEGER", "b INTEGER"])
    #expect(header.result.notes == [])
    let rows = try readCSV("a;b\n1;2;\n3;4\n")
    #expect(rows.values("test", "b") == [2, 4])
    let both = try readCSV("a;b;\n1;2;\n")
    #expect(both.columns("test") == ["a INTEGER", "b INTEGER", "field_3 TEXT"])
  }

  @Test func `rows without any value are left out`() throws {
    let reading = try readCSV("a;b;c\n1;2;3\n;;\n ; ; \n;;;;;\n4;5;6\n")
    #expect(reading.values("test", "a") == [1, 4])
    #expect(reading.features("test").map(\.id) == [1, 2])
    #expect(reading.result.notes == ["3 rows without any value are left out"])
    let quoted = try readCSV("a,b\n\"\",\n")
    #expect(quoted.features("test").map(\.attributes) == [["a": ""]])
  }
}
