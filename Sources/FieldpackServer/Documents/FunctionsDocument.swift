import FieldpackCore

/// The list of functions that conditions can have (Part 3, `/functions`).
enum FunctionsDocument {
  static func tree(_ links: ServerDocuments.Links) -> JSONValue {
    .members(["links": links.json([]), "functions": .array(CQL2.functions.map(json))])
  }

  private struct Function {
    var description: String
    var arguments: [(title: String, types: [String])]
    var result = "boolean"
  }

  private static func json(_ name: String) -> JSONValue {
    let function = function(name)
    return [
      "name": .text(name), "description": .text(function.description),
      "arguments": .array(
        function.arguments.map { ["title": .text($0.title), "type": JSONValue($0.types)] }),
      "returns": [.text(function.result)],
    ]
  }

  private static func function(_ name: String) -> Function {
    switch name {
    case "CASEI":
      Function(
        description: "The text without the difference of capitals and small letters.",
        arguments: [("text", ["string"])], result: "string")
    case "ACCENTI":
      Function(
        description: "The text without accents.", arguments: [("text", ["string"])],
        result: "string")
    case "DATE":
      Function(
        description: "A day, such as DATE('2024-01-31').", arguments: [("day", ["string"])],
        result: "datetime")
    case "TIMESTAMP":
      Function(
        description: "A moment, such as TIMESTAMP('2024-01-31T12:00:00Z').",
        arguments: [("moment", ["string"])], result: "datetime")
    case "INTERVAL":
      Function(
        description: "A time from one moment to another; '..' is an open end.",
        arguments: [("start", ["string", "datetime"]), ("end", ["string", "datetime"])],
        result: "datetime")
    case "S_DWITHIN":
      Function(
        description:
          "Whether two geometries are no farther from each other than a distance in metres, or "
          + "in units of the layer's reference system where the fourth argument is 'planar'.",
        arguments: pair("geometry") + [("distance", ["number"]), ("metric", ["string"])])
    case "S_RELATE":
      Function(
        description: "Whether two geometries lie to each other as a DE-9IM pattern says.",
        arguments: pair("geometry") + [("pattern", ["string"])])
    default: relation(name)
    }
  }

  /// A relation of two values of a kind, which the first letter of the name tells.
  private static func relation(_ name: String) -> Function {
    let word = name.dropFirst(2).lowercased()
    return switch name.prefix(2) {
    case "A_":
      Function(
        description: "Whether the relation '\(word)' holds between two arrays.",
        arguments: [("a", ["array"]), ("b", ["array"])])
    case "T_":
      Function(
        description: "Whether the relation '\(word)' holds between two times.",
        arguments: pair("datetime"))
    default:
      Function(
        description: "Whether the relation '\(word)' holds between two geometries.",
        arguments: pair("geometry"))
    }
  }

  private static func pair(_ type: String) -> [(title: String, types: [String])] {
    [("a", [type]), ("b", [type])]
  }
}
