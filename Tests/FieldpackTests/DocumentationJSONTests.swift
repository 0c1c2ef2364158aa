import Fieldpack
import FieldpackTestSupport
import Foundation
import Testing

/// The article on the tool's JSON: each command in it is run and prints a document of that shape.
@Suite struct DocumentationJSONTests {
  private struct Example {
    var command: String
    var document: String
  }

  private static let article: [String] = {
    let url = Checkout.file("Sources/Fieldpack/Fieldpack.docc/CommandLineJSON.md")
    let text = (try? String(contentsOf: url, encoding: .utf8)) ?? ""
    return text.components(separatedBy: "\n```")
  }()

  private static func blocks(_ language: String) -> [(index: Int, text: String)] {
    article.enumerated().compactMap { index, part in
      guard part.hasPrefix(language + "\n") else { return nil }
      return (index, String(part.dropFirst(language.count + 1)))
    }
  }

  /// Each command with the document after it.
  private static let examples: [Example] = {
    let documents = Dictionary(uniqueKeysWithValues: blocks("json"))
    return blocks("console").compactMap { index, text in
      guard text.hasPrefix("$ "), let document = documents[index + 2] else { return nil }
      return Example(command: String(text.dropFirst(2)), document: document)
    }
  }()

  @Test func `every document of the article has the shape that its command prints`() async throws {
    let folder = try TemporaryFolder()
    _ = try folder.write(try #require(Self.blocks("json").first).text, to: "sites.geojson")
    #expect(Self.examples.count == 40)
    let path = "fieldpack() { '\(Tool.path)' \"$@\"; }; "
    for example in Self.examples {
      let result = try await Program.run(
        "bash", ["-c", path + example.command], folder: folder.url)
      let printed = result.output.isEmpty ? result.error : result.output
      #expect(
        try shape(printed, of: example.command) == shape(example.document, of: "the article"),
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
