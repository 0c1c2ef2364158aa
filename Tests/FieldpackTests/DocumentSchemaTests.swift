import FieldpackTestSupport
import Foundation
import Testing

/// Every document that the tool prints is valid against its JSON Schema.
@Suite struct DocumentSchemaTests {
  private static let folder = "Sources/Fieldpack/Fieldpack.docc/Resources/schemas"
  private static let suffix = ".schema.json"

  /// All schemas but what they share.
  private static let schemas: Set<String> = {
    let names = try? FileManager.default.contentsOfDirectory(atPath: Checkout.file(folder).path)
    return Set((names ?? []).map { String($0.dropLast(suffix.count)) }).subtracting(["shared"])
  }()

  @Test func `every command that prints JSON has a schema and documents for it`() async throws {
    let help = try await Tool.run("help", "--json")
    let root = try #require(
      try JSONSerialization.jsonObject(with: help.outputBytes) as? [String: Any])
    let commands = Self.commands(of: root)
    #expect(commands.contains("query") && commands.contains("track-record"))
    let used = Set((JSONArticle.examples.map(\.schema)) + Self.variants.map(\.schema))
    #expect(Set(commands).subtracting(Self.schemas) == [], "commands without a schema")
    #expect(used.symmetricDifference(Self.schemas) == [], "schemas without a document")
    #expect(
      JSONArticle.linked.subtracting(["shared"]).symmetricDifference(Self.schemas) == [],
      "schemas that the article does not link")
  }

  /// The words of each command that takes `--json` and has no subcommands, joined by hyphens.
  private static func commands(of command: [String: Any], after words: [String] = []) -> [String] {
    let subcommands = command["subcommands"] as? [[String: Any]] ?? []
    let options = command["options"] as? [[String: Any]] ?? []
    guard subcommands.isEmpty else {
      return subcommands.flatMap { subcommand in
        commands(of: subcommand, after: words + [subcommand["name"] as? String ?? ""])
      }
    }
    let takesJSON = options.contains { $0["name"] as? String == "--json" }
    return takesJSON ? [words.joined(separator: "-")] : []
  }

  @Test(
    .enabled(
      if: Programs.jsonschemaPython != nil, Comment(rawValue: Programs.noJSONSchemaPython)))
  func `documents are valid, also of errors and of nothing`() async throws {
    var documents = try await JSONArticle.printed()
    let folder = try TemporaryFolder()
    _ = try folder.write(JSONArticle.sites, to: "sites.geojson")
    for (name, text) in Self.files { _ = try folder.write(text, to: name) }
    for (schema, command) in Self.variants {
      documents.append(try await JSONDocument(schema, command, folder: folder.url))
    }
    let lines = try documents.flatMap { document in
      try document.parts.map { part in
        try JSONSerialization.data(withJSONObject: [document.schema, document.command, part])
      }
    }
    for document in documents where document.text.isEmpty {
      Issue.record("nothing was printed by: \(document.command)")
    }
    let python = try #require(Programs.jsonschemaPython)
    let result = try await Program.run(
      python, ["-c", Self.validator, Checkout.file(Self.folder).path],
      input: Data(lines.joined(separator: Data("\n".utf8))))
    #expect(result.status == 0 && result.output == "\(lines.count) documents\n", "\(result)")
  }

  /// Reads a schema, a command and a document a line, and prints what is wrong.
  private static let validator = """
    import decimal, json, pathlib, re, sys
    from jsonschema import Draft202012Validator
    from referencing import Registry, Resource

    def read(text): return json.loads(text, parse_float=decimal.Decimal)

    files = {p.name: read(p.read_text()) for p in pathlib.Path(sys.argv[1]).iterdir()}
    registry = Registry().with_resources(
        (name, Resource.from_contents(schema)) for name, schema in files.items())
    mistakes = []

    def look(schema, place):
        if isinstance(schema, list):
            for part in schema: look(part, place)
        if not isinstance(schema, dict): return
        members = schema.get("properties")
        if isinstance(members, dict) and place.split("/")[-1] != "properties":
            for name, member in members.items():
                if not re.fullmatch("[a-z][a-z0-9]*(_[a-z0-9]+)*", name):
                    mistakes.append(f"{place}: {name} is not snake_case")
                if not {"description", "$ref"} & set(member) and name != "type":
                    mistakes.append(f"{place}: {name} is not described")
            is_open = "geojson_geometry" in place
            if schema.get("additionalProperties") is not False and not is_open:
                mistakes.append(f"{place} allows other members")
        for name, part in schema.items(): look(part, place + "/" + name)

    def digits(value, place):
        if isinstance(value, list):
            for part in value: digits(part, place)
        if not isinstance(value, dict): return
        for name, part in value.items():
            is_short = name.endswith("_ms") or name.endswith("_m") and name != "ele_m"
            if is_short and isinstance(part, decimal.Decimal) and part.as_tuple().exponent < -3:
                mistakes.append(f"{place}: {name} has too many digits: {part}")
            if name != "properties": digits(part, place)

    for name, schema in files.items():
        Draft202012Validator.check_schema(schema)
        look(schema, name)
    count = 0
    for line in sys.stdin:
        name, command, text = json.loads(line)
        document = read(text)
        count += 1
        schema = files[name + ".schema.json"]
        for error in Draft202012Validator(schema, registry=registry).iter_errors(document):
            mistakes.append(f"{command}: {error.json_path}: {error.message}")
        digits(document, command)
    print("\\n".join(mistakes) if mistakes else f"{count} documents")
    sys.exit(bool(mistakes))
    """
}
