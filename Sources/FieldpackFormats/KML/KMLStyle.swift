import FieldpackCore

/// What a style of KML says of colours, each as KML writes it: opacity, blue, green, red.
struct KMLStyle: Hashable {
  var lineColor: UInt32?
  var lineWidth: Double?
  var areaColor: UInt32?
  var fills: Bool?
  var iconColor: UInt32?

  /// Takes what `other` sets.
  mutating func overwrite(with other: KMLStyle) {
    lineColor = other.lineColor ?? lineColor
    lineWidth = other.lineWidth ?? lineWidth
    areaColor = other.areaColor ?? areaColor
    fills = other.fills ?? fills
    iconColor = other.iconColor ?? iconColor
  }

  /// Reads `aabbggrr`, also with `#` before it, and `bbggrr`, which is opaque.
  static func color(_ text: UnsafeBufferPointer<UInt8>) -> UInt32? {
    let digits = trimmed(text).drop { $0 == UInt8(ascii: "#") }
    guard digits.count == 8 || digits.count == 6,
      let value = UInt32(String(decoding: digits, as: UTF8.self), radix: 16)
    else { return nil }
    return digits.count == 8 ? value : value | 0xFF00_0000
  }

  /// A colour as `#rrggbb`.
  static func hex(_ color: UInt32) -> String {
    let swapped = (color & 255) << 16 | (color >> 8 & 255) << 8 | (color >> 16 & 255)
    let digits = String(swapped, radix: 16)
    return "#" + String(repeating: "0", count: 6 - digits.count) + digits
  }

  /// The opacity of a colour from 0 to 1, with the three digits that give the byte back.
  static func opacity(_ color: UInt32) -> Double {
    (Double(color >> 24) / 255 * 1000).rounded() / 1000
  }
}

/// The styles of a file that features share, by their id.
struct KMLStyles {
  private enum Entry {
    case style(KMLStyle)
    /// What a style map names for features that are not pointed at.
    case link(String)
  }

  private var entries: [String: Entry] = [:]
  /// More are of no use; a hostile file could fill the memory with them.
  private static let maximumCount = 1_000_000

  mutating func add(_ style: KMLStyle, id: String) { set(.style(style), id) }
  mutating func add(link: String, id: String) { set(.link(link), id) }

  private mutating func set(_ entry: Entry, _ id: String) {
    guard entries.count < Self.maximumCount else { return }
    entries[id] = entry
  }

  /// The style behind a `styleUrl` of this file; `nil` where there is none.
  func style(_ url: String) -> KMLStyle? {
    var url = url
    // Maps may name each other in a circle.
    for _ in 0..<8 {
      guard let hash = url.firstIndex(of: "#") else { return nil }
      switch entries[String(url[url.index(after: hash)...])] {
      case .style(let style): return style
      case .link(let next): url = next
      case nil: return nil
      }
    }
    return nil
  }
}
