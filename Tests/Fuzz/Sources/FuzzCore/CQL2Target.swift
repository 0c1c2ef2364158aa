import FieldpackCore
import FuzzSupport

/// CQL2 Text, and CQL2 JSON where the input begins with `{`: a filter that is read is read again
/// from both encodings.
enum CQL2Target {
  static let cql2: FuzzTarget = { input in
    let source = String(decoding: input, as: UTF8.self)
    let filter: Filter
    do throws(FieldpackError) {
      filter = try Filter(cql2: source)
    } catch {
      require(error.code == .invalidArgument, "an error of another code: \(error)")
      if let position = error.position { checkPosition(position, in: Array(source.utf8)) }
      return
    }
    let text = check(filter, in: .text)
    let json = check(filter, in: .json)
    guard let text, let json else { return }
    let crossed = requireNoError("CQL2 JSON \(json)") { () throws(FieldpackError) in
      try Filter(cql2JSON: json).cql2Text
    }
    require(crossed == text, "another filter by JSON:\n\(text)\n\(crossed)")
  }

  private enum Encoding {
    case text, json

    func write(_ filter: Filter) throws(FieldpackError) -> String {
      switch self {
      case .text: try filter.cql2Text
      case .json: try filter.cql2JSON
      }
    }

    func read(_ text: String) throws(FieldpackError) -> Filter {
      switch self {
      case .text: try Filter(cql2: text)
      case .json: try Filter(cql2JSON: text)
      }
    }
  }

  /// What is written is read as a filter that is written the same; `nil` where it has no words.
  private static func check(_ filter: Filter, in encoding: Encoding) -> String? {
    let text: String
    do throws(FieldpackError) {
      text = try encoding.write(filter)
    } catch {
      require(error.code == .unsupported, "a filter is not written: \(error)")
      return nil
    }
    let again = requireNoError(text) { () throws(FieldpackError) in
      try encoding.write(encoding.read(text))
    }
    require(again == text, "a filter is read as another:\n\(text)\n\(again)")
    return text
  }

  private static func checkPosition(_ position: FilePosition, in bytes: [UInt8]) {
    guard let line = position.line, let column = position.column else { return }
    let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    require(
      lines.indices.contains(line - 1) && (1...lines[line - 1].count + 1).contains(column),
      "an error beyond the text: \(position)")
  }
}
