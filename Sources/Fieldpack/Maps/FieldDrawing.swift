package import FieldpackCore
import FieldpackField
package import FieldpackGeometry
import FieldpackProjection

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// How maps show layers of field data: tracks and detections in colours that say what they are, points
/// with a radius as the circles that are watched.
package struct FieldDrawing {
  /// The column whose metres make a circle of a point.
  static let radiusColumn = "radius_m"
  private static let kindColumn = "kind"

  /// The columns of a layer that its drawing depends on.
  package static func columns(of schema: Schema) -> [String] {
    var columns: [String] = []
    if schema.columnIndex(radiusColumn) != nil { columns.append(radiusColumn) }
    columns += [kindColumn(of: schema), deviceColumn(of: schema)].compactMap(\.self)
    return columns + FeatureStyle.columns(of: schema)
  }

  /// The column that says what detections are; `nil` in other layers.
  static func kindColumn(of schema: Schema) -> String? {
    schema.layer == FieldData.detection && schema.columnIndex(kindColumn) != nil
      ? kindColumn : nil
  }

  /// The column of the devices of recorded tracks and their points; `nil` in other layers.
  static func deviceColumn(of schema: Schema) -> String? {
    guard schema.layer == FieldData.track || isTrackPoints(schema.layer) else { return nil }
    return schema.columnIndex("device") == nil ? nil : "device"
  }

  /// Whether the points of a layer lie closely along lines.
  package static func isTrackPoints(_ layer: LayerID) -> Bool {
    layer == FieldData.trackPoint || layer == "track_points" || layer == "route_points"
  }

  /// The style of a layer of field data that has none of its own.
  package static func style(of layer: LayerID, kind: String? = nil) -> LayerStyle? {
    switch layer {
    case FieldData.track:
      LayerStyle(strokeColor: StyleColor("#0072B2"), strokeOpacity: 1, strokeWidth: 3)
    case FieldData.trackPoint: LayerStyle(iconColor: StyleColor("#56B4E9"))
    case FieldData.detection:
      LayerStyle(iconColor: StyleColor(kind.flatMap { colors[$0] } ?? "#555555"))
    default: nil
    }
  }

  /// What detections can be, in the order of the alphabet.
  static var kinds: [String] { colors.keys.sorted() }

  /// After Okabe and Ito, as the colours of layers without a style.
  private static let colors = [
    "enter": "#009E73", "exit": "#D55E00", "cross": "#CC79A7", "dwell": "#E69F00",
    "start": "#882255", "moved": "#999933",
  ]

  /// The kind of the detection that a row is; `nil` in other layers.
  package func kind(of row: FeatureBatch.Row) -> String? {
    guard let kindIndex else { return nil }
    return row.kind(at: kindIndex) == .text ? row.text(at: kindIndex) : "other"
  }

  // MARK: Circles

  private let radius: Int?
  private let kindIndex: Int?
  private let isGeographic: Bool

  package init(_ schema: Schema, isGeographic: Bool) {
    self.isGeographic = isGeographic
    kindIndex =
      schema.layer == FieldData.detection ? schema.columnIndex(Self.kindColumn) : nil
    radius = schema.columnIndex(Self.radiusColumn)
  }

  var hasCircles: Bool { radius != nil }
  var hasKinds: Bool { kindIndex != nil }

  /// The circle of a point that has a radius, else the geometry itself.
  package func shape(_ geometry: Geometry, of row: FeatureBatch.Row) -> Geometry {
    guard let radius, case .point(let center?, _) = geometry else { return geometry }
    let kind = row.kind(at: radius)
    let metres = kind == .integer ? Double(row.integer(at: radius)) : row.real(at: radius)
    guard kind == .integer || kind == .real, metres > 0, metres < 1e7 else { return geometry }
    let corners = 72
    let ring = (0...corners).map { corner in
      position(at: metres, Double(corner % corners) * 360 / Double(corners), from: center)
    }
    return .polygon([CoordinateSequence(ring, dimensions: .xy)], .xy)
  }

  /// Elsewhere than in degrees units are taken for metres.
  private func position(at metres: Double, _ azimuth: Double, from center: Position) -> Position {
    guard isGeographic else {
      let angle = azimuth * .pi / 180
      return Position(
        x: center.x + metres * sin(angle), y: center.y + metres * cos(angle))
    }
    var position = Geodesic.wgs84.position(from: center, azimuth: azimuth, distance: metres)
    // One circle stays one, across the antimeridian, too.
    if position.x - center.x > 180 { position.x -= 360 }
    if position.x - center.x < -180 { position.x += 360 }
    return position
  }
}
