public import FieldpackCore
import FieldpackGeometry

/// The vertices of a layer of lines as fixes, ordered by their M in Unix seconds, then by feature
/// id and their order in the line.
///
/// All are held in memory, 150 bytes each, and come as fast as they are read. Vertices without an M
/// come first. Positions are transformed to longitude and latitude; each reading is one query.
public struct VertexSource: LocationSource {
  private let store: any Store
  private let layer: LayerID
  private let deviceColumn: String?

  /// - Parameter deviceColumn: the column with the device of each line; by default `device` or
  ///   `device_id`, where there is one.
  public init(_ store: any Store, layer: LayerID, deviceColumn: String? = nil) {
    self.store = store
    self.layer = layer
    self.deviceColumn = deviceColumn
  }

  public var isComplete: Bool { true }

  public func updates() -> LocationUpdates {
    let (store, layer, deviceColumn) = (store, layer, deviceColumn)
    return LocationUpdates {
      let replay = VertexReplay(store, layer, deviceColumn)
      return { () async throws(FieldpackError) in try await replay.next() }
    }
  }
}

/// One reading of a layer.
private actor VertexReplay {
  private let store: any Store
  private let layer: LayerID
  private let deviceColumn: String?
  private var fixes: [Fix]?
  private var index = 0

  init(_ store: any Store, _ layer: LayerID, _ deviceColumn: String?) {
    self.store = store
    self.layer = layer
    self.deviceColumn = deviceColumn
  }

  func next() async throws(FieldpackError) -> [LocationUpdate]? {
    if fixes == nil { fixes = Self.ordered(try await read()) }
    guard let fixes, index < fixes.count else { return nil }
    let chunk = fixes[index..<min(index + Replay.batchSize, fixes.count)]
    index += chunk.count
    return chunk.map { .fix($0) }
  }

  private static func ordered(_ fixes: [Fix]) -> [Fix] {
    let order = fixes.indices.sorted { a, b in
      switch (fixes[a].time, fixes[b].time) {
      case (let x?, let y?): (x, a) < (y, b)
      case (nil, _?): true
      case (_?, nil): false
      case (nil, nil): a < b
      }
    }
    return order.map { fixes[$0] }
  }

  private func read() async throws(FieldpackError) -> [Fix] {
    let deviceColumn = try await device()
    let query = Query(layer).select(deviceColumn.map { [$0] } ?? []).transformed(to: .wgs84)
    var fixes: [Fix] = []
    for try await batch in try await store.query(query) {
      for index in 0..<batch.count {
        let row = batch[index]
        let key = KeyTuple(store: batch.store, layer: batch.schema.layer, feature: row.id)
        guard let geometry = try row.geometry(key: key) else { continue }
        var vertices = LineVertices(device: deviceColumn == nil ? "" : Self.name(row))
        geometry.linearized().visit(with: &vertices)
        fixes += vertices.fixes
      }
    }
    return fixes
  }

  /// The column that is named, else the one of the usual name.
  private func device() async throws(FieldpackError) -> String? {
    if let deviceColumn { return deviceColumn }
    let columns = try await store.schemas().first { $0.layer == layer }?.columns ?? []
    for name in ["device", "device_id"] {
      if let found = columns.first(where: { $0.name.lowercased() == name }) { return found.name }
    }
    return nil
  }

  private static func name(_ row: FeatureBatch.Row) -> String {
    switch row.kind(at: 0) {
    case .integer: "\(row.integer(at: 0))"
    case .real: "\(row.real(at: 0))"
    case .text: row.text(at: 0)
    case .null, .blob: ""
    }
  }
}

/// Makes a fix of each position.
private struct LineVertices: GeometryVisitor {
  let device: String
  private(set) var fixes: [Fix] = []

  init(device: String) { self.device = device }

  mutating func begin(_ type: GeometryType, _ dimensions: Dimensions, count: Int?) {}
  mutating func beginRing(count: Int?) {}
  mutating func endRing() {}
  mutating func end(_ type: GeometryType) {}

  mutating func position(_ x: Double, _ y: Double, _ z: Double, _ m: Double) {
    var fix = Fix(longitude: x, latitude: y, elevation: z.isNaN ? nil : z, device: device)
    // No calendar goes farther; a file may.
    if abs(m) < 1e12 { fix.time = Instant(milliseconds: Int64((m * 1000).rounded())) }
    fixes.append(fix)
  }
}
