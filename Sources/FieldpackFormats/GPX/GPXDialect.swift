import FieldpackCore
import FieldpackGeometry

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The kind of GPX that is written.
public enum GPXDialect: String, Hashable, Sendable, CaseIterable {
  /// Valid GPX 1.1 with every digit and attribute.
  case gpx11 = "gpx-1.1"
  /// What the app PhotoPath writes and Xcode simulates positions from: points as `wpt` of six
  /// decimals with their time in whole seconds, UTC, and nothing else. It has no namespace, so it is
  /// not valid GPX 1.1.
  case photoPath = "photopath"
}

/// Writes points as PhotoPath does.
struct PhotoPathPoints {
  static let head = "<?xml version=\"1.0\"?>\n<gpx version=\"1.1\" creator=\"Xcode\">\n"

  private let layer: LayerID
  private let time: Int?

  /// - Throws: `.unsupported` for a layer that is not of points.
  init(_ schema: Schema) throws(FieldpackError) {
    layer = schema.layer
    guard schema.geometry?.type == .point else {
      throw FieldpackError(
        .unsupported,
        "layer '\(schema.layer)' is not of points, which PhotoPath's GPX alone has",
        advice: .omitGPXDialect, location: .init(layer: schema.layer))
    }
    time = schema.columns.firstIndex { $0.name.lowercased() == "time" }
  }

  /// Appends the point of a row; nothing, and false, where there is none.
  func append(
    _ row: borrowing some FeatureRow & ~Copyable, to bytes: inout [UInt8]
  ) throws(FieldpackError) -> Bool {
    let key = KeyTuple(store: "", layer: layer, feature: row.id)
    guard case .point(let position?, _)? = try row.geometry(key: key) else { return false }
    guard abs(position.x) <= 180, abs(position.y) <= 90 else {
      throw FieldpackError(
        .invalidData, "the position \(position.x) \(position.y) is not on Earth",
        location: .init(layer: layer, feature: row.id))
    }
    bytes.append(contentsOf: "<wpt lat=\"".utf8)
    Self.append(position.y, to: &bytes)
    bytes.append(contentsOf: "\" lon=\"".utf8)
    Self.append(position.x, to: &bytes)
    bytes.append(contentsOf: "\">".utf8)
    if let moment = moment(row) ?? position.m.flatMap({ GPXValueText.instant(unixSeconds: $0) }) {
      bytes.append(contentsOf: "<time>".utf8)
      let seconds = moment.milliseconds - (moment.milliseconds % 1000 + 1000) % 1000
      InstantText.append(Instant(milliseconds: seconds), isShort: true, to: &bytes)
      bytes.append(contentsOf: "</time>".utf8)
    }
    bytes.append(contentsOf: "</wpt>\n".utf8)
    return true
  }

  private func moment(_ row: borrowing some FeatureRow & ~Copyable) -> Instant? {
    guard let time, row.kind(at: time) == .text, let instant = Instant(row.text(at: time)),
      InstantText.canWrite(instant)
    else { return nil }
    return instant
  }

  /// `%f` of C, which rounds the exact value and knows no other decimal point without a locale.
  private static func append(_ degrees: Double, to bytes: inout [UInt8]) {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 32) { buffer in
      let count = withVaList([degrees]) { vsnprintf(buffer.baseAddress, 32, "%f", $0) }
      for index in 0..<min(max(Int(count), 0), 31) {
        bytes.append(UInt8(bitPattern: buffer[index]))
      }
    }
  }
}
