import Fieldpack
import FieldpackTestSupport
import Testing

/// The article on the tool's JSON: each command in it is run and prints a document of that shape.
@Suite struct DocumentationJSONTests {
  @Test func `every document of the article has the shape that its command prints`() async throws {
    let documents = try await JSONArticle.printed()
    for (document, example) in zip(documents, JSONArticle.examples) {
      #expect(
        try shape(document.text, of: example.command) == shape(example.document, of: "the article"),
        "\(example.command)")
    }
  }

  private func shape(_ text: String, of source: String) throws -> String {
    shape(try ConfigDocument(Array(text.utf8), file: source).root)
  }

  /// The names and kinds; of an array its first element, since all have one shape.
  private func shape(_ value: ConfigValue) -> String {
    switch value.content {
    case .null: "null"
    case .boolean: "boolean"
    case .number: "number"
    case .text: "text"
    case .array(let elements): "[\(elements.first.map(shape) ?? "")]"
    case .object(let members):
      "{\(members.map { "\($0.name): \(shape($0.value))" }.joined(separator: ", "))}"
    }
  }
}
