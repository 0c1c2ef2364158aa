import FieldpackTestSupport
import Foundation

/// The article on the tool's JSON: commands in one folder, each with the document that it prints and
/// the schema that is named before it.
enum JSONArticle {
  struct Example: Sendable {
    var command: String
    var document: String
    var schema: String
  }

  static let text =
    (try? String(
      contentsOf: Checkout.file("Sources/Fieldpack/Fieldpack.docc/CommandLineJSON.md"),
      encoding: .utf8)) ?? ""

  /// The names of all schemas that the article links.
  static let linked = Set(text.matches(of: link).map { String($0.output.1) })

  /// The file of features that the examples are over.
  static let sites = parts.first { $0.hasPrefix("json\n") }.map { String($0.dropFirst(5)) } ?? ""

  static let examples: [Example] = {
    var schema = ""
    var examples: [Example] = []
    for (index, part) in parts.enumerated() {
      if let last = part.matches(of: link).last { schema = String(last.output.1) }
      guard part.hasPrefix("console\n$ "), index + 2 < parts.count,
        parts[index + 2].hasPrefix("json\n")
      else { continue }
      examples.append(
        Example(
          command: String(part.dropFirst(10)), document: String(parts[index + 2].dropFirst(5)),
          schema: schema))
    }
    return examples
  }()

  /// What the commands print, on standard error where it is an error; each is run once.
  static func printed() async throws -> [JSONDocument] { try await running.value }

  private static let running = Task {
    let folder = try TemporaryFolder()
    _ = try folder.write(sites, to: "sites.geojson")
    var documents: [JSONDocument] = []
    for example in examples {
      documents.append(
        try await JSONDocument(example.schema, example.command, folder: folder.url))
    }
    return documents
  }

  private static let parts = text.components(separatedBy: "\n```")
  nonisolated(unsafe) private static let link = #/\]\(/schemas/([a-z-]+)\.schema\.json\)/#
}

/// What a command printed, and the schema that it is to be valid against.
struct JSONDocument: Sendable {
  var schema: String
  var command: String
  /// On standard error for the schema `error`.
  var text: String

  /// The documents in it: one, or under --follow, of the bridge and in a log one a line.
  var parts: [String] {
    let areLines = schema.hasSuffix("-follow") || ["log", "bridge"].contains(schema)
    guard areLines else { return [text] }
    return text.split(separator: "\n").map { String($0) }
  }

  /// Runs a line of the shell, in which `fieldpack` is the built tool.
  init(_ schema: String, _ command: String, folder: URL) async throws {
    let tool = #"tool=$0; fieldpack() { "$tool" "$@"; }; "#
    let result = try await Program.run(
      "bash", ["-c", tool + command, Tool.path], folder: folder)
    self.schema = schema
    self.command = command
    text = schema == "error" ? result.error : result.output
  }
}
