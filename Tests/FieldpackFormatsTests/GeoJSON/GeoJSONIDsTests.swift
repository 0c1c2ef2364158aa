import FieldpackCore
import FieldpackGeometry
import FieldpackTestSupport
import Testing

@testable import FieldpackFormats

@Suite struct GeoJSONIDsTests {
  private func lines(_ ids: [String?]) -> String {
    ids.map { id in
      #"{"type":"Feature",\#(id.map { #""id":\#($0),"# } ?? "")"geometry":null,"properties":{}}"#
    }.joined(separator: "\n")
  }

  @Test func `distinct integers become the feature ids, whatever their order`() throws {
    let cases: [[Int64]] = [
      [1, 2, 3], [5, 3, 4, 1], [0, -7, .max, .min], [9_007_199_254_740_993],
    ]
    for ids in cases {
      let reading = try GeoJSONReading(lines(ids.map { "\($0)" }))
      #expect(reading.rows.map(\.id) == ids.map { .integer($0) })
      #expect(reading.columns == [])
      #expect(reading.result.layers[0].ids == .file)
      #expect(reading.passes == 1)
    }
  }

  private func lines(fid values: [String?], id: String? = nil) -> String {
    values.map { value in
      #"{"type":"Feature",\#(id.map { #""id":\#($0),"# } ?? "")"geometry":null,"properties":{"#
        + "\(value.map { #""fid":\#($0),"# } ?? "")\"n\":1}}"
    }.joined(separator: "\n")
  }

  @Test func `a property fid of distinct integers has the feature ids where there is no id`() throws
  {
    for ids: [Int64] in [[1, 2, 3], [5, 3, 4, 1]] {
      let reading = try GeoJSONReading(lines(fid: ids.map { "\($0)" }))
      #expect(reading.rows.map(\.id) == ids.map { .integer($0) })
      #expect(reading.columns == ["n INTEGER"])
      #expect(reading.schema.idIsAttribute)
      #expect(reading.result.layers[0].ids == .property(column: "fid_2"))
      #expect(reading.result.notes == [])
      #expect(reading.passes == 1)
      let layer = reading.result.layers[0].withIDsAsColumn
      #expect(layer.ids == .ordinal)
      #expect(layer.schema.columns.map(\.name) == ["fid_2", "n"])
    }
  }

  @Test func `a property fid with other values is a column`() throws {
    let cases: [([String?], String, [Value])] = [
      (["1", "2", "1"], "INTEGER", [1, 2, 1]), (["1", nil], "INTEGER", [1, nil]),
      (["1", "null"], "INTEGER", [1, nil]), (["1", "2.5"], "REAL", [1.0, 2.5]),
      (["1", #""a""#], "TEXT", ["1", "a"]), (["true", "false"], "BOOLEAN", [1, 0]),
    ]
    for (values, type, column) in cases {
      let reading = try GeoJSONReading(lines(fid: values))
      #expect(reading.columns == ["fid_2 \(type)", "n INTEGER"])
      #expect(reading.recorder.column("fid_2") == column)
      #expect(reading.rows.map(\.id) == column.indices.map { .integer(Int64($0 + 1)) })
      #expect(!reading.schema.idIsAttribute)
    }
    let both = try GeoJSONReading(lines(fid: ["7"], id: "8"))
    #expect(both.rows.map(\.id) == [8])
    #expect(both.columns == ["fid_2 INTEGER", "n INTEGER"])
    let mixed = try GeoJSONReading(lines(fid: ["7"], id: "8") + "\n" + lines(fid: ["9"]))
    #expect(mixed.columns == ["id TEXT", "fid_2 INTEGER", "n INTEGER"])
    #expect(mixed.recorder.column("id") == ["8", nil])
    #expect(mixed.recorder.column("fid_2") == [7, 9])
  }

  @Test func `other ids become a column of text`() throws {
    let cases: [([String?], [Value])] = [
      (["1", "2", "1"], ["1", "2", "1"]), (["1", nil], ["1", nil]), ([#""7""#], ["7"]),
      (["1", #""a""#, "1.50"], ["1", "a", "1.50"]),
      (["9223372036854775808"], ["9223372036854775808"]), (["null", "3"], [nil, "3"]),
    ]
    for (ids, column) in cases {
      let reading = try GeoJSONReading(lines(ids))
      #expect(reading.columns == ["id TEXT"])
      #expect(reading.schema.columns[0].isSourceID)
      #expect(reading.recorder.column("id") == column)
      #expect(reading.rows.map(\.id) == column.indices.map { .integer(Int64($0 + 1)) })
      #expect(reading.result.layers[0].ids == .ordinal)
    }
  }

  @Test func `no two rows ever have one id, even in a pass that is given up`() throws {
    // A duplicate, a text and a missing id far behind the head.
    for late in ["17", #""x""#, nil] {
      var ids: [String?] = (1...1500).map { "\($0 * 3)" }
      ids.append(late)
      let folder = try text(lines(ids))
      var reader = GeoJSONReader(folder.input, options: ReadOptions(layer: "x"))
      let layers = try reader.assume()
      #expect(layers[0].ids == .file)
      var recorder = RowRecorder()
      let result = try reader.read(as: layers, into: &recorder)
      #expect(Set(recorder.rows.map(\.id)).count == recorder.rows.count)
      #expect(result.layers[0].ids == (late == "17" ? .file : .ordinal))
    }
  }

  @Test func `a late duplicate turns the ids into a column`() throws {
    let ids = (1...1500).map { "\($0)" } + ["3", "1600"]
    let reading = try GeoJSONReading(lines(ids))
    #expect(reading.passes == 2)
    #expect(reading.columns == ["id TEXT"])
    #expect(reading.recorder.column("id") == ids.map { .text($0) })
  }

  @Test func `the id column gives way to a property`() throws {
    let feature = #"{"type":"Feature","id":"x","geometry":null,"properties":{"id":1,"ID":2}}"#
    let reading = try GeoJSONReading(feature)
    #expect(reading.columns == ["id_3 TEXT", "id INTEGER", "ID_2 INTEGER"])
    #expect(reading.rows[0].values == ["x", 1, 2])
  }

  @Test func `a property named by the caller is the feature id and no column`() throws {
    let features = [(3, "a"), (1, "b"), (2, "c")].map { id, name in
      #"{"type":"Feature","id":"\#(name)","geometry":null,"properties":{"code":\#(id),"n":1}}"#
    }
    let reading = try GeoJSONReading(features.joined(separator: "\n")) { $0.idColumn = "code" }
    #expect(reading.columns == ["id TEXT", "n INTEGER"])
    #expect(reading.rows.map(\.id) == [3, 1, 2])
    #expect(reading.rows.map(\.values) == [["a", 1], ["b", 1], ["c", 1]])
  }

  @Test func `an id column with duplicates or without integers is an error`() {
    func feature(_ code: String) -> String {
      #"{"type":"Feature","geometry":null,"properties":{\#(code)}}"#
    }
    let cases = [
      (
        [#""code":5"#, #""code":4"#, #""code":5"#],
        "x.geojson:3:1, feature 3, byte 118: 'code' is 5 a second time,"
          + " so it cannot be the feature's id"
      ),
      (
        [#""code":5"#, #""code":"6""#],
        "x.geojson:2:1, feature 2, byte 59: 'code' is no 64-bit integer,"
          + " so it cannot be the feature's id"
      ),
      (
        [#""other":5"#],
        "x.geojson:1:1, feature 1, byte 0: 'code' is no 64-bit integer,"
          + " so it cannot be the feature's id"
      ),
    ]
    for (features, message) in cases {
      let text = features.map(feature).joined(separator: "\n")
      #expect {
        try GeoJSONReading(text) { $0.idColumn = "code" }
      } throws: { "\($0)" == message }
    }
  }

  @Test func `duplicates are found in any order`() {
    var ids = CollectedIDs()
    for id in stride(from: Int64(4000), to: -4000, by: -3) { ids.append(id) }
    #expect(ids.duplicate() == nil)
    ids.append(1)
    #expect(ids.duplicate() == 1)
    var none = CollectedIDs()
    #expect(none.duplicate() == nil)
  }

  private func text(_ content: String) throws -> (input: ByteInput, folder: TemporaryFolder) {
    try GeoJSONReading.input(content)
  }
}
