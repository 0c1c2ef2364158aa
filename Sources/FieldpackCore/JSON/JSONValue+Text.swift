extension JSONValue {
  /// The document in one line.
  package var text: String {
    var bytes: [UInt8] = []
    append(to: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Appends the document in one line, without an end of line.
  ///
  /// - Parameter keepsFractions: writes a real that is a whole number with `.0`, so that it is read
  ///   back as a real. A negative zero needs none.
  package func append(to bytes: inout [UInt8], keepsFractions: Bool = false) {
    switch self {
    case .null: bytes.append(contentsOf: "null".utf8)
    case .boolean(let value): bytes.append(contentsOf: (value ? "true" : "false").utf8)
    case .integer(let value): bytes.append(contentsOf: value.description.utf8)
    case .real(let value)
    where keepsFractions && value.isFinite && value.bitPattern != (-0.0).bitPattern:
      bytes.append(contentsOf: value.description.utf8)
    case .real(let value): JSONText.append(value, to: &bytes)
    case .text(let value): JSONText.append(value, to: &bytes)
    case .array(let items):
      Self.append(items, between: ("[", "]"), to: &bytes) { item, bytes in
        item.append(to: &bytes, keepsFractions: keepsFractions)
      }
    case .object(let members):
      Self.append(members, between: ("{", "}"), to: &bytes) { member, bytes in
        JSONText.append(member.name, to: &bytes)
        bytes.append(UInt8(ascii: ":"))
        member.value.append(to: &bytes, keepsFractions: keepsFractions)
      }
    }
  }

  /// Appends items that `body` writes, with commas between them and marks around them.
  package static func append<Item>(
    _ items: [Item], between marks: (String, String), to bytes: inout [UInt8],
    _ body: (Item, inout [UInt8]) -> Void
  ) {
    bytes.append(contentsOf: marks.0.utf8)
    for (index, item) in items.enumerated() {
      if index > 0 { bytes.append(UInt8(ascii: ",")) }
      body(item, &bytes)
    }
    bytes.append(contentsOf: marks.1.utf8)
  }
}
