import FieldpackCore
import FieldpackGeometry
import Testing

@Suite struct AttributesTests {
  @Test func `names keep their order and the last value wins`() {
    var attributes: Attributes = ["b": 1, "a": "x", "b": 2]
    #expect(attributes.names == ["b", "a"])
    #expect(attributes["b"] == 2)
    #expect(attributes["B"] == nil)
    attributes["c"] = .null
    attributes["c"] = .some(.null)
    #expect(attributes.names == ["b", "a", "c"])
    #expect(attributes["c"] == .some(.null))
    attributes["b"] = nil
    attributes["missing"] = nil
    #expect(attributes.elements == [.init(name: "a", value: "x"), .init(name: "c", value: nil)])
    #expect(!attributes.isEmpty && Attributes().isEmpty)
  }

  @Test func `two spellings of a name are two attributes`() {
    let attributes: Attributes = ["\u{e9}": 1, "e\u{301}": 2]
    #expect(attributes.elements.map(\.value) == [1, 2])
    #expect(attributes["e\u{301}"] == 2)
  }

  @Test func `typed columns read what fits`() {
    let feature = Feature(attributes: ["n": 3, "r": 1.5, "t": "x", "b": true, "z": .null])
    #expect(feature[Column<Int64>("n")] == 3)
    #expect(feature[Column<Int>("n")] == 3)
    #expect(feature[Column<Double>("n")] == 3)
    #expect(feature[Column<Double>("r")] == 1.5)
    #expect(feature[Column<Int64>("r")] == nil)
    #expect(feature[Column<String>("t")] == "x")
    #expect(feature[Column<Bool>("b")] == true)
    #expect(feature[Column<Bool>("z")] == nil)
    #expect(feature[Column<Bool>("missing")] == nil)
  }

  @Test func `literals of attributes take expressions of every type that a column has`() {
    let (top, number, name): (Double, Int, String?) = (2.5, 41, nil)
    let (day, moment) = (CalendarDate(dayNumber: 1), Instant(milliseconds: 1))
    let text: Value = "Markt \(number)"
    #expect(text == .text("Markt 41"))
    let attributes: Attributes = [
      "text": "Markt \(number)", "sum": top * 2, "next": number + 1, "flag": number > 40,
      "none": nil, "name": name, "day": day, "moment": moment, "value": text,
    ]
    #expect(
      attributes.elements.map(\.value) == [
        .text("Markt 41"), .real(5), .integer(42), .boolean(true), .null, .null, .date(day),
        .dateTime(moment), .text("Markt 41"),
      ])
    let cases: Attributes = [
      "a": .null, "b": .boolean(true), "c": .integer(1), "d": .real(1), "e": .text("x"),
      "f": .blob([1]), "g": .date(day), "h": .dateTime(moment),
    ]
    #expect(
      cases.elements.map(\.value) == [
        .null, .boolean(true), .integer(1), .real(1), .text("x"), .blob([1]), .date(day),
        .dateTime(moment),
      ])
  }

  @Test func `typed columns are set`() {
    let (level, name) = (Column<Double>("level"), Column<String>("name"))
    var feature = Feature(attributes: ["level": 2])
    feature[level] = (feature[level] ?? 0) + 0.5
    feature[name] = "Markt 41"
    feature[Column<Value>("any")] = .boolean(true)
    #expect(feature.attributes == ["level": 2.5, "name": "Markt 41", "any": true])
    feature[level] = nil
    #expect(feature.attributes["level"] == .some(.null))
    #expect(feature[level] == nil)
  }

  @Test func `a feature takes its id from its key`() {
    let key = KeyTuple(store: "s", layer: "l", feature: 7)
    #expect(Feature(key: key).id == 7)
    #expect(Feature(key: key, id: 8).id == 8)
    #expect(Feature().id == nil)
  }
}

@Suite struct FeatureBatchTests {
  static let schema = Schema(
    layer: "l", geometry: GeometryColumn(),
    columns: [
      .init("n", .integer), .init("flag", .boolean), .init("r", .double), .init("t", .text()),
      .init("b", .blob()), .init("d", .date), .init("s", .dateTime),
    ])

  static let point = Geometry.point(x: 1, y: 2)

  static let rows: [ValueRow] = [
    ValueRow(
      id: 1,
      [
        .integer(.min), 1, .real(-0.0), "é👍", .blob([0, 255]), "2020-02-29",
        "2020-01-01T00:00:00Z",
      ],
      wkb: WKB.bytes(of: point), envelope: Envelope(minX: 1, minY: 2, maxX: 1, maxY: 2)),
    ValueRow(id: "x.y", [.null, .null, .null, .null, .null, .null, .null]),
    ValueRow(id: 3, [.integer(.max), 7, .real(.infinity), "", .blob([]), "?", 5], wkb: []),
  ]

  static func batch() -> FeatureBatch {
    var batch = FeatureBatch(store: "s", schema: schema)
    for row in rows { batch.append(row) }
    return batch
  }

  @Test func `rows come back as they were`() {
    let batch = Self.batch()
    #expect(batch.count == 3 && !batch.isEmpty && !batch.isFull)
    #expect(batch.ids == [1, "x.y", 3])
    for (index, row) in Self.rows.enumerated() {
      #expect(batch[index].id == row.id)
      #expect(batch[index].envelope == row.envelope)
      for column in Self.schema.columns.indices {
        #expect(batch[index].stored(at: column) == row.stored(at: column))
        #expect(batch[index].integer(at: column) == row.integer(at: column))
        #expect(batch[index].real(at: column).description == row.real(at: column).description)
      }
      let bytes = batch[index].withGeometry { span in span.withUnsafeBytes { Array($0) } }
      #expect(bytes == row.wkb)
    }
  }

  @Test func `a feature is built by column type`() throws {
    let batch = Self.batch()
    let key = KeyTuple(store: "s", layer: "l", feature: 1)
    let expected = Feature(
      key: key, geometry: Self.point,
      attributes: [
        "n": .integer(.min), "flag": true, "r": .real(-0.0), "t": "é👍", "b": .blob([0, 255]),
        "d": .date(CalendarDate(dayNumber: 18321)),
        "s": .dateTime(Instant(milliseconds: 1_577_836_800_000)),
      ])
    #expect(try batch.feature(at: 0) == expected)
    let empty = try batch.feature(at: 1)
    #expect(empty.geometry == nil)
    #expect(empty.attributes.elements.allSatisfy { $0.value == .null })
    #expect(empty.attributes.names == Self.schema.columns.map(\.name))
  }

  @Test func `a broken geometry names its feature`() {
    let error = #expect(throws: FieldpackError.self) { try Self.batch().feature(at: 2) }
    #expect(error?.code == .invalidData)
    #expect(error?.location == KeyTuple.Partial(store: "s", layer: "l", feature: 3))
  }

  @Test func `a batch is full at 1,024 rows or 1 MiB`() {
    var rows = FeatureBatch(store: "s", schema: Schema(layer: "l"))
    for id in 0..<1024 {
      #expect(!rows.isFull)
      rows.append(ValueRow(id: .integer(Int64(id))))
    }
    #expect(rows.isFull)
    var bytes = FeatureBatch(
      store: "s", schema: Schema(layer: "l", columns: [.init("b", .blob())]))
    bytes.append(ValueRow([.blob(Array(repeating: 7, count: (1 << 20) - 1))]))
    #expect(!bytes.isFull)
    bytes.append(ValueRow([.blob([1])]))
    #expect(bytes.isFull && bytes.byteCount == 1 << 20)
  }

  @Test func `a batch drives a sink`() throws {
    struct Names: FeatureSink {
      var seen: [String] = []
      mutating func begin(_ schema: Schema) { seen.append(schema.layer.rawValue) }
      mutating func feature(_ row: borrowing some FeatureRow & ~Copyable) {
        seen.append(row.id.description)
      }
    }
    var names = Names()
    try Self.batch().drive(&names)
    try Self.batch().drive(&names, announcing: false)
    #expect(names.seen == ["l", "1", "x.y", "3", "1", "x.y", "3"])
  }
}
