public import FieldpackCore

/// One thing that a token allows.
public enum AccessRight: Hashable, Sendable, CustomStringConvertible {
  /// To read a layer; `nil` is all layers but those of ``bio``.
  case read(LayerID?)
  /// To read and change a layer; `nil` is the file with all layers but those of ``bio``.
  case write(LayerID?)
  /// To bring captures, motion and positions.
  case ingest
  /// To read what sensors tell of people: the layers whose names begin with `bio_`, their logs, and the
  /// media of a file that has such layers. With ``write(_:)`` also to change them.
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

extension [AccessRight] {
  /// Whether a layer tells of people. SQLite takes names in upper and lower case for the same.
  static func isBio(_ layer: LayerID) -> Bool { layer.rawValue.lowercased().hasPrefix("bio_") }

  /// - Parameter layer: `nil` for the file as a whole.
  func mayRead(_ layer: LayerID?) -> Bool { allows(layer, writing: false) }

  /// - Parameter layer: `nil` for the file as a whole.
  func mayWrite(_ layer: LayerID?) -> Bool { allows(layer, writing: true) }

  private func allows(_ layer: LayerID?, writing: Bool) -> Bool {
    if let layer, Self.isBio(layer), !contains(.bio) { return false }
    return contains { right in
      switch right {
      case .read(let named): !writing && (named == nil || named == layer)
      case .write(let named): named == nil || named == layer
      case .bio: !writing && layer.map(Self.isBio) == true
      case .ingest: false
      }
    }
  }

  /// Whether no layer is kept from whoever has the rights.
  var readEverything: Bool { mayRead(nil) && contains(.bio) }
}
