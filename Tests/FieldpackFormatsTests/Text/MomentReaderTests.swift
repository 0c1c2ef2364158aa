import FieldpackCore
import Testing

@testable import FieldpackFormats

@Suite struct MomentReaderTests {
  private static let texts = [
    "2024-02-29T23:59:59Z", "2024-02-29T00:00:00Z", "2023-02-29T00:00:00Z", "2023-02-29T00:00:01Z",
    "2024-02-29T12:00:00Z", "2024-02-29T24:00:00Z", "2024-02-29T12:60:00Z", "2024-02-29T12:00:60Z",
    "2024-02-29T12:00:61Z", "2024-02-29T12:00:00.5Z", "2024-02-29T12:00:00.1234Z",
    "2024-02-29T12:00:00+02:00", "2024-02-29T12:00:00", "2024-02-29T12:00Z", "2024-02-29 12:00:00Z",
    "2024-02-29t12:00:00z", "0000-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "1969-12-31T23:59:59Z",
    "2024-02-29T1a:00:00Z", "2024-02-29T12:00:0 Z", "20240229T120000000000Z", "2024-02-29", "",
    "\0\0\0\0\0\0\0\0\0\0T00:00:00Z", "2024-13-01T00:00:00Z", "2024-02-29T12:00:00ZZ",
  ]

  @Test func `reads what the parser of Core reads, in any order`() {
    var reader = MomentReader()
    for text in Self.texts + Self.texts.reversed() {
      Array(text.utf8).withUnsafeBufferPointer { bytes in
        let parsed = DateTimeParser.dateTime(bytes)
        let moment = reader.read(bytes)
        #expect(moment?.instant == parsed?.instant, "\(text)")
        #expect(moment?.isDateTime == parsed.map { InferredValue($0) != nil }, "\(text)")
      }
    }
  }

  @Test func `whole seconds are GeoPackage's form but for the fraction`() {
    var reader = MomentReader()
    for text in Self.texts {
      let moment = Array(text.utf8).withUnsafeBufferPointer { reader.read($0) }
      guard let moment, moment.isWholeSeconds else { continue }
      #expect(moment.instant.description == text.dropLast() + ".000Z")
    }
    let whole = Self.texts.filter { text in
      Array(text.utf8).withUnsafeBufferPointer { reader.read($0)?.isWholeSeconds == true }
    }
    #expect(
      whole == [
        "2024-02-29T23:59:59Z", "2024-02-29T00:00:00Z", "2024-02-29T12:00:00Z",
        "0000-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "1969-12-31T23:59:59Z",
      ])
  }
}
