import FieldpackCore
import Testing

@testable import FieldpackWFS

@Suite struct FeatureSplitterTests {
  private static let text = """
    {"type":"FeatureCollection","note":{"features":[{"no":1}]},"features" : [
    {"a":"}]\\"{", "b":[1,{"c":[]}]} , {"x":{}}], "totalFeatures": 2}
    """

  /// Wherever the bytes are cut, the same features come.
  @Test func `finds each feature in pieces of any size`() throws {
    let bytes = Array(Self.text.utf8)
    for size in [1, 2, 3, 7, bytes.count] {
      var splitter = FeatureSplitter()
      var found: [String] = []
      for start in stride(from: 0, to: bytes.count, by: size) {
        try splitter.push(Array(bytes[start..<min(start + size, bytes.count)])) {
          (bytes) throws(FieldpackError) in found.append(String(decoding: bytes, as: UTF8.self))
        }
      }
      #expect(found == [#"{"a":"}]\"{", "b":[1,{"c":[]}]}"#, #"{"x":{}}"#])
      #expect(try splitter.finish()["totalFeatures"] == .integer(2))
    }
  }

  @Test(arguments: ["", "[", "{\"features\":[{}", "{}}", "{}{}", "]"])
  func `refuses what is no collection`(text: String) {
    #expect(throws: FieldpackError.self) {
      var splitter = FeatureSplitter()
      try splitter.push(Array(text.utf8)) { _ throws(FieldpackError) in }
      _ = try splitter.finish()
    }
  }
}
