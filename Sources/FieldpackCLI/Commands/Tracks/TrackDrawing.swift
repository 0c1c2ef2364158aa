import Fieldpack
import FieldpackCore
import FieldpackGeometry
import FieldpackMaps

/// A map of tracks: the regions around them, their lines and points, and what was detected.
struct TrackDrawing {
  let title: String
  private var tracks: [(device: String, points: [TrackPoint])] = []
  private var regions: [Geometry] = []
  private var detections: [String: [Geometry]] = [:]
  private var envelope = Envelope.empty

  init(title: String) { self.title = title }

  /// Adds a track, through its points: its line may trail them.
  mutating func add(_ points: [TrackPoint], of device: String?) {
    tracks.append((device ?? "", points))
    for point in points {
      envelope.formUnion(
        Envelope(
          minX: point.longitude, minY: point.latitude, maxX: point.longitude,
          maxY: point.latitude))
    }
  }

  /// Adds all detections that a file keeps; none where it has no such layer.
  mutating func addDetections(of store: GeoPackageStore) async throws(FieldpackError) {
    let layer = FieldData.detection
    guard try await store.schemas().contains(where: { $0.layer == layer }) else { return }
    try await each(layer, of: store) { drawing, geometry, row, walk in
      drawing.detections[walk.kind(of: row) ?? "other", default: []].append(geometry)
    }
  }

  /// Adds a layer whose points are circles where they have a radius.
  mutating func addRegions(
    _ layer: LayerID, of store: any Store
  ) async throws(FieldpackError) {
    try await each(layer, of: store) { drawing, geometry, row, walk in
      let shape = walk.shape(geometry, of: row)
      if let box = shape.envelope { drawing.envelope.formUnion(box) }
      drawing.regions.append(shape)
    }
  }

  private mutating func each(
    _ layer: LayerID, of store: any Store,
    _ body: (inout TrackDrawing, Geometry, FeatureBatch.Row, FieldDrawing) -> Void
  ) async throws(FieldpackError) {
    guard let schema = try await store.schemas().first(where: { $0.layer == layer }) else {
      throw FieldpackError(
        .notFound, "there is no layer '\(layer)'", location: .init(store: store.id))
    }
    let query = Query(layer).select(FieldDrawing.columns(of: schema)).transformed(to: .wgs84)
    for try await batch in try await store.query(query) {
      let walk = FieldDrawing(batch.schema, isGeographic: true)
      for index in 0..<batch.count {
        let row = batch[index]
        let key = KeyTuple(store: batch.store, layer: layer, feature: row.id)
        guard let geometry = try row.geometry(key: key) else { continue }
        body(&self, geometry, row, walk)
      }
    }
  }

  func svg() -> [UInt8] { map(for: .picture).finished() }

  func page() -> [UInt8] { map(for: .page).page() }

  private func map(for medium: SVGMap.Medium) -> SVGMap {
    var map = SVGMap(title: title, envelope, in: .wgs84, for: medium)
    if !regions.isEmpty { map.draw(MapLayer("regions", regions)) }
    let devices = Set(tracks.map(\.device)).sorted()
    map.beginLayer("track", FieldData.track, devices)
    for (device, points) in tracks {
      map.draw(Self.line(points), as: .symbol(devices.firstIndex(of: device) ?? 0))
    }
    map.beginLayer("points", FieldData.trackPoint, devices)
    for (device, points) in tracks {
      for point in points {
        map.draw(
          .point(x: point.longitude, y: point.latitude),
          as: .symbol(devices.firstIndex(of: device) ?? 0))
      }
    }
    for (kind, geometries) in detections.sorted(by: { $0.key < $1.key }) {
      map.draw(
        MapLayer(kind, style: FieldDrawing.style(of: FieldData.detection, kind: kind), geometries))
    }
    return map
  }

  private static func line(_ points: [TrackPoint]) -> Geometry {
    .lineString(
      CoordinateSequence(
        dimensions: .xy, ordinates: points.flatMap { [$0.longitude, $0.latitude] }))
  }
}

extension SVGMap {
  /// Begins a layer of tracks, where several devices have a colour each.
  fileprivate mutating func beginLayer(_ name: String, _ layer: LayerID, _ devices: [String]) {
    guard devices.count > 1 else {
      beginLayer(
        name, style: FieldDrawing.style(of: layer), isThinned: layer == FieldData.trackPoint)
      return
    }
    beginLayer(
      name, heading: "\(name): device",
      symbols: devices.map { MapSymbol($0.isEmpty ? "(none)" : $0, .automatic(key: $0)) },
      isThinned: layer == FieldData.trackPoint)
  }
}

extension MapMark {
  fileprivate static func symbol(_ number: Int) -> MapMark {
    var mark = MapMark()
    mark.symbol = number
    return mark
  }
}
