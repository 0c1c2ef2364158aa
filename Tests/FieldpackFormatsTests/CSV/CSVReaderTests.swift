import FieldpackCore
import FieldpackFormats
import FieldpackGeometry
import FieldpackTestSupport
import Foundation
import Testing

func readCSV(
  _ text: String, _ change: (inout ReadOptions) -> Void = { _ in }
) throws -> GPXReading {
  try readCSV(bytes: Array(text.utf8), change)
}

func readCSV(
  bytes: [UInt8], _ change: (inout ReadOptions) -> Void = { _ in }
) throws -> GPXReading {
  let folder = try TemporaryFolder()
  let url = folder.file("test.csv")
  try Data(bytes).write(to: url)
  var options = ReadOptions(layer: "test")
  change(&options)
  return try GPXReading(CSVReader(ByteInput(path: url.path), options: options))
}

@Suite struct CSVReaderTests {
  @Test func `lon and lat make points in WGS 84`() throws {
    let reading = try readCSV("name,Lon,LAT\nA,11.5,48.25\nB,,\n")
    #expect(
      reading.result.layers == [
        FileLayer(
          schema: Schema(
            layer: "test", geometry: GeometryColumn(type: .point, srs: .wgs84),
            columns: [ColumnDefinition("name", .text())]))
      ])
    #expect(
      reading.features("test") == [
        Feature(id: 1, geometry: .point(x: 11.5, y: 48.25), attributes: ["name": "A"]),
        Feature(id: 2, geometry: nil, attributes: ["name": "B"]),
      ])
    #expect(
      reading.collector.envelopes["test"]
        == Envelope(minX: 11.5, minY: 48.25, maxX: 11.5, maxY: 48.25))
  }

  @Test func `WKT gives the one type, singles promoted, Z where there is one`() throws {
    let reading = try readCSV(
      """
      wkt,n
      "LINESTRING Z (1 2 3,4 5 6)",1
      "SRID=25833;MULTILINESTRING ((1 2,3 4))",2
      LINESTRING EMPTY,3
      ,4
      """)
    #expect(
      reading.schema("test")?.geometry
        == GeometryColumn(
          type: .multiLineString, srs: SRS("EPSG", 25833), z: .optional, m: .prohibited))
    #expect(
      reading.features("test").map(\.geometry) == [
        .multiLineString(
          [CoordinateSequence(dimensions: .xyz, ordinates: [1, 2, 3, 4, 5, 6])], .xyz),
        .multiLineString([CoordinateSequence(dimensions: .xy, ordinates: [1, 2, 3, 4])], .xy),
        .multiLineString([], .xy), nil,
      ])
  }

  @Test func `without a reference system the coordinates are undefined, and said to be`() throws {
    let reading = try readCSV("x,y\n1,2\n")
    #expect(reading.schema("test")?.geometry?.srs == .undefinedCartesian)
    #expect(
      reading.result.notes == [
        Note("the file does not say its reference system", advice: .nameSourceSRS)
      ])
    let given = try readCSV("geom\nSRID=4326;POINT(1 2)\n") { $0.sourceSRS = SRS("EPSG", 3857) }
    #expect(given.schema("test")?.geometry?.srs == SRS("EPSG", 3857))
  }

  static let types: [(String, String)] = [
    ("1|2|-3", "INTEGER"), ("1|2.5", "REAL"), ("1|x", "TEXT"), ("007|8", "TEXT"),
    ("true|false|", "BOOLEAN"), ("true|1", "TEXT"), ("2024-05-01|2024-05-02", "DATE"),
    ("2024-05-01T10:00:00Z|2024-05-01 12:00:00.5+02:00", "DATETIME"),
    ("2024-05-01T10:00:00", "TEXT"), ("2024-05-01|2024-05-01T10:00:00Z", "TEXT"),
    ("9223372036854775808", "TEXT"), (" 1 | 2", "INTEGER"), ("|", "TEXT"), ("\"\"|1", "TEXT"),
    ("\"5\"|6", "INTEGER"), ("+49|1", "TEXT"), ("1e5|2", "REAL"), ("nan|1", "TEXT"),
  ]

  @Test(arguments: types.indices) func `a column's type holds all of its values`(
    index: Int
  ) throws {
    let (values, type) = Self.types[index]
    let rows = values.split(separator: "|", omittingEmptySubsequences: false)
    let reading = try readCSV("k,v\n" + rows.map { "k,\($0)\n" }.joined())
    #expect(reading.columns("test") == ["k TEXT", "v \(type)"])
  }

  @Test func `values are stored as their column reads them`() throws {
    let reading = try readCSV(
      "i,r,b,d,t,x,e\n1,1,true,2024-05-01,2024-05-01T12:00:00+02:00,007, \n2,2.5,,,,a,\"\"\n")
    let time = try #require(Instant("2024-05-01T10:00:00Z"))
    let day = try #require(CalendarDate("2024-05-01"))
    #expect(
      reading.features("test").map(\.attributes) == [
        [
          "i": 1, "r": 1.0, "b": true, "d": .date(day), "t": .dateTime(time), "x": "007",
        ],
        ["i": 2, "r": 2.5, "x": "a", "e": ""],
      ])
    #expect(reading.schema("test")?.geometry == nil)
  }

  @Test func `quotes hold delimiters, quotes and line breaks`() throws {
    let reading = try readCSV(
      "\u{FEFF}a,b\r\n\"x, \"\"y\"\"\",\"1\r\n2\"\r\n\r\nin\"ner,\"\"\"\"\r\n")
    #expect(reading.values("test", "a") == ["x, \"y\"", "in\"ner"])
    #expect(reading.values("test", "b") == ["1\r\n2", "\""])
  }

  @Test(
    arguments: [
      "a;b\n1,x;2\n", "a\tb\n1,x\t2\n", "a,b\n\"1,x\",2\n", "a,b\r\"1,x\",2", "a|b\n1,x|2\n",
      "sep=#\na#b\n1,x#2\n",
    ])
  func `the delimiter is found`(text: String) throws {
    let reading = try readCSV(text)
    #expect(reading.features("test").map(\.attributes) == [["a": "1,x", "b": 2]])
    #expect(reading.result.notes == [])
  }

  static let oneColumn: [(String, String?)] = [
    ("a:b:c\n1:2:3\n4:5:6\n", ":"), ("a^b^c\n1^2^3\n", "^"), ("a:b:c\n1:2\n", nil),
    ("a time:zone\n10:00\n", nil), ("a:b:c\n", nil),
  ]

  @Test(arguments: oneColumn.indices) func `one column full of another delimiter is said`(
    index: Int
  ) throws {
    let (text, sign) = Self.oneColumn[index]
    let notes = sign.map {
      Note(
        "each row was read as one column, and '\($0)' stands in all", advice: .nameDelimiter($0))
    }
    #expect(try readCSV(text).result.notes == [notes].compactMap { $0 })
  }

  @Test func `a delimiter that is given and cuts nothing is said`() throws {
    let reading = try readCSV("a,b\n1,2\n") { $0.csv.delimiter = UInt8(ascii: ";") }
    #expect(reading.result.notes.map(\.advice) == [.nameDelimiter(",")])
  }

  @Test func `quotes inside a row do not decide the delimiter, those inside a header do`() throws {
    let spoken = try readCSV("nr;name;note, remark\n1;a;he said,\"yes\"\n2;b;she said,\"no\"\n")
    #expect(spoken.schema("test")?.columns.map(\.name) == ["nr", "name", "note, remark"])
    let inches = try readCSV("nr;5\" pipe\n1;a\n")
    #expect(inches.schema("test")?.columns.map(\.name) == ["nr", "5\" pipe"])
  }

  @Test func `the delimiter may be given`() throws {
    let reading = try readCSV("a#b,c\n1#2,x\n") { $0.csv.delimiter = UInt8(ascii: "#") }
    #expect(reading.features("test").map(\.attributes) == [["a": 1, "b,c": "2,x"]])
  }

  @Test func `names that are equal, empty or taken get new ones`() throws {
    let reading = try readCSV("a,A,,geom_2\n1,2,3,5\n")
    #expect(
      reading.columns("test") == ["a INTEGER", "A_2 INTEGER", "field_3 INTEGER", "geom_2 INTEGER"])
    #expect(
      reading.result.notes == ["column 'A' is named 'A_2'", "column '' is named 'field_3'"])
  }

  @Test func `columns keep their names and order, and rows theirs, also where they are ids`() throws
  {
    let reading = try readCSV("v,id,fid\na,30,7\nb,10,5\nc,20,6\n")
    #expect(reading.columns("test") == ["v TEXT", "id INTEGER", "fid INTEGER"])
    #expect(reading.schema("test")?.idColumn == "fid_2")
    #expect(reading.schema("test")?.columns.map(\.isSourceID) == [false, false, false])
    #expect(reading.features("test").map(\.id) == [1, 2, 3])
    #expect(reading.values("test", "id") == [30, 10, 20])
    #expect(reading.result.layers.map(\.ids) == [.ordinal])
    #expect(reading.result.notes == [])
  }

  @Test func `the id column may be named`() throws {
    let reading = try readCSV("id,nr\n5,7\n5,8\n") { $0.idColumn = "NR" }
    #expect(reading.features("test").map(\.id) == [7, 8])
    #expect(reading.columns("test") == ["id INTEGER"])
    #expect(
      Self.failure("nr\n7\n7\n") { $0.idColumn = "nr" } == "invalidData 3 the id 7 is there twice")
    #expect(
      Self.failure("nr\nx\n") { $0.idColumn = "nr" } == "invalidData 2 the id 'x' is not an integer"
    )
  }

  static let headers: [(String, String)] = [
    (
      "wkt,geom",
      "invalidArgument 1 more than one column may hold the geometry: 'wkt', 'geom' "
        + "nameGeometryColumns"
    ),
    (
      "lon,long,lat",
      "invalidArgument 1 more than one column may hold the geometry: 'lon', 'long', 'lat' "
        + "nameGeometryColumns"
    ),
    (
      "geom,x,y",
      "invalidArgument 1 more than one column may hold the geometry: 'geom', 'x', 'y' "
        + "nameGeometryColumns"
    ),
  ]

  @Test(arguments: headers.indices) func `an ambiguous header advises to name the columns`(
    index: Int
  ) {
    let (header, message) = Self.headers[index]
    #expect(Self.failure(header + "\n") { _ in } == message)
  }

  @Test func `the options choose the columns`() throws {
    let reading = try readCSV("wkt,x,y\nPOINT(1 2),3,4\n") {
      $0.csv.xColumn = "x"
      $0.csv.yColumn = "Y"
    }
    #expect(reading.features("test").map(\.geometry) == [.point(x: 3, y: 4)])
    #expect(reading.values("test", "wkt") == ["POINT(1 2)"])
    #expect(
      Self.failure("a,b\n") { $0.csv.wktColumn = "c" }
        == "invalidArgument 1 there is no column 'c' (there are: a, b)")
    #expect(
      Self.failure("a,b\n") { $0.csv.xColumn = "a" }
        == "invalidArgument 1 the columns of x and y are given together nameBothCoordinates")
    #expect(
      Self.failure("a,b\n") { ($0.csv.xColumn, $0.csv.wktColumn) = ("a", "b") }
        == "invalidArgument 1 a column of WKT excludes columns of x and y nameOneGeometry")
  }

  static let broken: [(String, String)] = [
    ("", "invalidData 1 the file is empty"),
    ("\n\n", "invalidData 1 the file has no header"),
    ("a,b\n1\n", "invalidData 2 the row has 1 fields where the header has 2"),
    ("a,b\n1,2\n\"x\ny\",2,3\n", "invalidData 3 the row has 3 fields where the header has 2"),
    ("a,b\n1,\"2\n", "invalidData 2 a quoted field is not closed"),
    ("a,b\n\"1\"2,3\n", "invalidData 2 text follows a closing quote"),
    ("x,y\n1,\n", "invalidData 2 the coordinate '' is not a number"),
    ("x,y\n1,nan\n", "invalidData 2 the coordinate 'nan' is not a number"),
    (
      "x,y\n\"1,5\",2\n",
      "invalidData 2 the coordinate '1,5' is not a number CSVOptions.decimalSign = .comma"
    ),
    (
      "geom\n0102\n",
      "invalidData 2 the WKB is broken: the bytes end before a geometry's header at byte 0"
    ),
    ("geom\n01z\n", "invalidData 2 the geometry is neither WKT nor WKB"),
    (
      "wkt,a\nSRID=1;POINT(1 2),1\nSRID=2;POINT(1 2),1\n",
      "invalidData 3 SRID 2 differs from 1 of the rows before"
    ),
  ]

  @Test(arguments: broken.indices) func `a broken file is an error with its line`(index: Int) {
    let (text, message) = Self.broken[index]
    #expect(Self.failure(text) { _ in } == message)
  }

  @Test func `broken WKT and UTF-8 are errors with their line`() throws {
    let wkt = #expect(throws: FieldpackError.self) { try readCSV("wkt\nPOINT(1 2)\nPOINT(1\n") }
    #expect(wkt?.position?.line == 3)
    #expect(wkt?.message.hasPrefix("the WKT is broken: ") == true)
    let text = #expect(throws: FieldpackError.self) {
      try readCSV(bytes: Array("a\nx\n".utf8) + [0xC3, 0x28, 0x0A])
    }
    #expect(text?.position?.line == 3)
    #expect(text?.message == "the row is not UTF-8")
    #expect(text?.advice == .nameEncoding)
  }

  @Test func `broken rows are skipped and listed`() throws {
    let reading = try readCSV("x,y,n\n1,2,a\n1,b\n?,2,c\n5,6,d\n") { $0.skipsErrors = true }
    #expect(reading.values("test", "n") == ["a", "d"])
    #expect(reading.features("test").map(\.id) == [1, 2])
    #expect(reading.result.skipped.count == 2)
    #expect(reading.result.skipped.listed.map(\.position?.line) == [3, 4])
    #expect(
      reading.result.skipped.listed.map(\.reason) == [
        "the row has 2 fields where the header has 3", "the coordinate '?' is not a number",
      ])
  }

  @Test func `a header alone is an empty layer`() throws {
    let reading = try readCSV("id,wkt")
    #expect(reading.result.counts == ["test": 0])
    #expect(reading.columns("test") == ["id TEXT"])
    #expect(reading.schema("test")?.geometry?.type == .geometry)
  }

  static func failure(_ text: String, _ change: (inout ReadOptions) -> Void) -> String {
    do {
      return "\(try readCSV(text, change).result.counts)"
    } catch let error as FieldpackError {
      let advice: [String] =
        switch error.advice {
        case .nameGeometryColumns: ["nameGeometryColumns"]
        case .nameOneGeometry: ["nameOneGeometry"]
        case .nameBothCoordinates: ["nameBothCoordinates"]
        case let other: other.map { ["\($0)"] } ?? []
        }
      let start = "\(error.code) \(error.position?.line ?? 0) \(error.message)"
      return ([start] + advice).joined(separator: " ")
    } catch { return "\(error)" }
  }
}
