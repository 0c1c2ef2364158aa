package import FieldpackCore
package import FieldpackGeometry
import FieldpackProjection
package import FieldpackServices

/// A layer as a collection, with what documents say about it. It is shared by all requests.
package final class ServedLayer: Sendable {
  package let layer: Layer
  /// Where the features lie, in longitude and latitude; two boxes across the antimeridian, none
  /// where nobody knows.
  package let extent: [Envelope]
  /// The column whose dates or instants `datetime` asks for: the first of instants, else the first
  /// of dates.
  package let instantColumn: ColumnDefinition?
  /// The first and the last value of ``instantColumn``, as RFC 3339; `nil` is open or unknown.
  package let interval: (first: String?, last: String?)
  /// Whether the ids of the features are texts.
  package let hasTextIDs: Bool
  /// Whether a new feature has to bring its id.
  package let takesIDs: Bool
  /// See ``DescribedLayer/computedDefaults``.
  package let computedDefaults: Set<String>
  /// What the user of the store may do to the features.
  package let rights: DescribedLayer.Rights
  let keptEncoders = KeptEncoders()

  /// - Parameter extent: in place of the layer's envelope, such as for a system that only its file
  ///   defines.
  package convenience init(
    _ layer: Layer, extent: [Envelope]? = nil,
    interval: (first: String?, last: String?) = (nil, nil)
  ) {
    self.init(DescribedLayer(layer), extent: extent, interval: interval)
  }

  package init(
    _ described: DescribedLayer, extent: [Envelope]? = nil,
    interval: (first: String?, last: String?) = (nil, nil)
  ) {
    layer = described.layer
    (hasTextIDs, rights) = (described.hasTextIDs, described.rights)
    (takesIDs, computedDefaults) = (described.takesIDs, described.computedDefaults)
    self.extent = extent ?? Self.extent(of: layer)
    self.interval = interval
    let columns = layer.schema.columns
    instantColumn =
      columns.first { $0.type == .dateTime } ?? columns.first { $0.type == .date }
  }

  package var id: LayerID { layer.id }
  package var schema: Schema { layer.schema }
  package var title: String { layer.title ?? layer.id.rawValue }
  package var collectionID: String { CollectionName.id(of: id) }

  /// The system of the stored geometries; `nil` where it has no name outside of the file.
  package var storageCRS: CRSName? { schema.geometry.flatMap { CRSName(storage: $0.srs) } }

  /// The systems that geometries are given in, the default first.
  package var systems: [CRSName] {
    guard schema.geometry != nil else { return [] }
    guard let storageCRS else { return [.crs84] }
    return Self.commonSystems + (Self.commonSystems.contains(storageCRS) ? [] : [storageCRS])
  }

  /// The systems that every layer with a named system is given in.
  package static let commonSystems: [CRSName] = [.crs84, .wgs84, .webMercator]

  private static func extent(of layer: Layer) -> [Envelope] {
    guard let box = layer.envelope, !box.isEmpty, let srs = layer.schema.geometry?.srs,
      let transformation = try? CoordinateTransformation(from: srs, to: .wgs84)
    else { return [] }
    return (try? transformation.transform(box)) ?? []
  }

  /// West, south, east and north of the extent; west is beyond east where the extent crosses the
  /// antimeridian.
  package var bbox: [Double]? { extent.box }
}

extension [Envelope] {
  /// West, south, east and north of an extent, as ``ServedLayer/bbox``.
  var box: [Double]? {
    guard let first, let last else { return nil }
    return [
      first.minX, map(\.minY).min() ?? first.minY, last.maxX, map(\.maxY).max() ?? last.maxY,
    ]
  }

  /// The box around all envelopes, none of which crosses the antimeridian.
  var whole: [Double]? {
    guard var all = first else { return nil }
    for other in dropFirst() { all.formUnion(other) }
    return [all.minX, all.minY, all.maxX, all.maxY]
  }
}
