import FieldpackCore
import FieldpackGeometry
import FieldpackHTTP

/// The entity tag of a feature.
///
///     "1yx4ohwnpm2ha"                    as GeoJSON in longitude and latitude
///     "3c5uvz2kcd9x6-EPSG:25832-html"    as a page, in another system
///
/// The first part is a hash of the feature as GeoJSON, which is the same for every reader. The parts
/// behind the hash name the representation.
enum ItemTag {
  static func tag(of bytes: [UInt8], crs: CRSName = .crs84, format: String = "json") -> String {
    var tag = "\"" + String(FNV1a.hash(of: bytes), radix: 36)
    if case .code(let srs) = crs { tag += "-\(srs.organization):\(srs.code)" }
    if format != "json" { tag += "-" + format }
    return tag + "\""
  }

  /// The tag of a feature as GeoJSON; `nil` where the feature cannot be written as GeoJSON.
  static func tag(
    of id: FeatureID, in layer: ServedLayer, _ snapshot: any SnapshotReading
  ) -> String? {
    guard let asked = try? ItemsRequest(crs: nil, of: layer, by: CRSAxes()),
      let bytes = try? asked.bytes(of: id, in: snapshot)
    else { return nil }
    return tag(of: bytes)
  }

  /// The system of the representation that a tag names, and its first part; `nil` for what is no tag
  /// of a feature, such as a weak tag.
  fileprivate static func parts(of tag: Substring) -> (hash: String, crs: CRSName)? {
    guard tag.count > 2, tag.first == "\"", tag.last == "\"" else { return nil }
    let parts = tag.dropFirst().dropLast().split(separator: "-")
    guard let hash = parts.first else { return nil }
    let crs = parts.dropFirst().lazy.compactMap { CRSName("[\($0)]") }.first
    return (String(hash), crs ?? .crs84)
  }
}

/// The fields `If-Match` and `If-None-Match` of a request that changes a feature.
struct EditConditions: Sendable {
  /// `nil` where there is no such field.
  let match: [Substring]?
  let noneMatch: [Substring]?

  var areNone: Bool { match == nil && noneMatch == nil }

  init(_ fields: HTTPFields) {
    match = Self.list("If-Match", fields)
    noneMatch = Self.list("If-None-Match", fields)
  }

  /// Our own tags have no commas, and a piece of a foreign tag equals no tag of ours.
  private static func list(_ name: String, _ fields: HTTPFields) -> [Substring]? {
    let values = fields.values(of: name)
    guard !values.isEmpty else { return nil }
    return values.joined(separator: ",").split(separator: ",").map { part in
      part.trimmingPrefix(while: \.isWhitespace).prefix { !$0.isWhitespace }
    }
  }

  /// Whether the conditions hold for a feature.
  ///
  /// - Parameter bytes: the feature as GeoJSON in a system; `nil` where it is not given in that system.
  func hold(
    _ bytes: (CRSName) throws(FieldpackError) -> [UInt8]?
  ) throws(FieldpackError) -> Bool {
    if let match, try !Self.has(match, bytes) { return false }
    if let noneMatch {
      // Here weak tags count as well (RFC 9110, 13.1.2).
      let plain = noneMatch.map { $0.hasPrefix("W/") ? $0.dropFirst(2) : $0 }
      if try Self.has(plain, bytes) { return false }
    }
    return true
  }

  private static func has(
    _ tags: [Substring], _ bytes: (CRSName) throws(FieldpackError) -> [UInt8]?
  ) throws(FieldpackError) -> Bool {
    if tags.contains("*") { return try bytes(.crs84) != nil }
    for tag in tags {
      guard let parts = ItemTag.parts(of: tag), let bytes = try bytes(parts.crs),
        let own = ItemTag.parts(of: ItemTag.tag(of: bytes)[...])
      else { continue }
      if own.hash == parts.hash { return true }
    }
    return false
  }
}
