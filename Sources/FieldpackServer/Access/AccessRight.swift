public import FieldpackCore

/// One thing that a token allows.
public enum AccessRight: Hashable, Sendable, CustomStringConvertible {
  /// To read one layer; `nil` allows all layers but those of ``bio``.
  case read(LayerID?)
  /// To read and change one layer; `nil` allows the whole file but the layers of ``bio``.
  case write(LayerID?)
  /// To send captures, motion and positions.
  case ingest
  /// To read what sensors measure of people: the layers whose names begin with `bio_`, their logs, and
  /// the media of a file that has such layers. Together with ``write(_:)``, also to change these layers.
  case bio

  /// Reads `read`, `write`, `read:LAYER`, `write:LAYER`, `ingest` or `bio`.
  ///
  /// - Throws: `.invalidArgument`.
  public init(_ text: String) throws(FieldpackError) {
    let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    let layer = parts.count > 1 ? LayerID(String(parts[1])) : nil
    switch (parts.first, layer) {
    case (_, let layer?) where layer.rawValue.isEmpty: throw Self.refusal(text)
    case ("read", _): self = .read(layer)
    case ("write", _): self = .write(layer)
    case ("ingest", nil): self = .ingest
    case ("bio", nil): self = .bio
    default: throw Self.refusal(text)
    }
  }

  private static func refusal(_ text: String) -> FieldpackError {
    FieldpackError(
      .invalidArgument,
      "'\(text)' is no right. Try: read, write, read:LAYER, write:LAYER, ingest or bio")
  }

  public var description: String {
    switch self {
    case .read(let layer): layer.map { "read:\($0)" } ?? "read"
    case .write(let layer): layer.map { "write:\($0)" } ?? "write"
    case .ingest: "ingest"
    case .bio: "bio"
    }
  }
}

extension AccessRight {
  /// Whether a layer has measurements of people. SQLite does not tell upper from lower case in names.
  static func isBio(_ layer: LayerID) -> Bool { layer.rawValue.lowercased().hasPrefix("bio_") }
}

extension [AccessRight] {
  /// - Parameter layer: `nil` for the file as a whole.
  func mayRead(_ layer: LayerID?) -> Bool { allows(layer, writing: false) }

  /// - Parameter layer: `nil` for the file as a whole.
  func mayWrite(_ layer: LayerID?) -> Bool { allows(layer, writing: true) }

  private func allows(_ layer: LayerID?, writing: Bool) -> Bool {
    if let layer, AccessRight.isBio(layer), !contains(.bio) { return false }
    return contains { right in
      switch right {
      case .read(let named): !writing && (named == nil || named == layer)
      case .write(let named): named == nil || named == layer
      case .bio: !writing && layer.map(AccessRight.isBio) == true
      case .ingest: false
      }
    }
  }

  /// Whether the rights allow reading all layers.
  var readEverything: Bool { mayRead(nil) && contains(.bio) }
}
