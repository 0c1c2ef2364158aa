import FieldpackCore

/// How far somebody has read: the last edit of each change log, and the last detection.
///
/// Its text is the id of events, such as `d1c.k3f9zq-5`. Clients send it back as it came.
struct EventPlace: Hashable, Sendable {
  /// The number of the last edit, by the name of the log that ``name(of:_:)`` gives.
  var logs: [String: Int64] = [:]
  /// The id of the last detection.
  var detection: Int64 = 0

  init() {}

  /// - Returns: `nil` for a text that is no id of an event.
  init?(_ text: String) {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard let first = parts.first, first.first == "d", let number = Self.number(first.dropFirst())
    else { return nil }
    detection = number
    for part in parts.dropFirst() {
      let sides = part.split(separator: "-", omittingEmptySubsequences: false)
      guard sides.count == 2, !sides[0].isEmpty, let number = Self.number(sides[1]) else {
        return nil
      }
      logs[String(sides[0])] = number
    }
  }

  private static func number(_ text: Substring) -> Int64? {
    guard text.first != "+", let number = Int64(text, radix: 36), number >= 0 else { return nil }
    return number
  }

  var text: String {
    var text = "d" + String(detection, radix: 36)
    for (name, number) in logs.sorted(by: { $0.key < $1.key }) {
      text += ".\(name)-" + String(number, radix: 36)
    }
    return text
  }

  /// The name of a log in ids. A log that was removed and begun anew has another name.
  static func name(of layer: LayerID, _ origin: String) -> String {
    let hash = FNV1a.hash(of: "\(origin)/\(layer.rawValue.lowercased())".utf8)
    return String(hash & 0xFF_FFFF_FFFF, radix: 36)
  }
}
