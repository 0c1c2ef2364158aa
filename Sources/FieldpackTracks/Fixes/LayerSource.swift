public import FieldpackCore
import FieldpackGeometry

/// The features of a layer as fixes, by time and then by feature id, as fast as they are taken.
///
/// - Each position of points is a fix, at the time of the feature's time column: `time`, else the
///   layer's first column of dates with times. Fixes without a time come first.
/// - Each vertex of lines is a fix, at its M in Unix seconds. These are held in memory, 150 bytes each.
/// - `accuracy_m`, else `accuracy`, is the radius of accuracy in metres.
///
/// Positions are transformed to longitude and latitude. Each reading is one query.
public struct LayerSource: LocationSource {
  private let store: any Store
  private let layer: LayerID
  private let deviceColumn: String?

  /// - Parameter deviceColumn: whose text says whose fix it is.
  public init(_ layer: LayerID, of store: any Store, deviceColumn: String? = nil) {
    self.store = store
    self.layer = layer
    self.deviceColumn = deviceColumn
  }

  public func updates() -> LocationUpdates {
    let (store, layer, deviceColumn) = (store, layer, deviceColumn)
    return LocationUpdates {
      let replay = LayerReplay(store, layer, deviceColumn)
      return { () async throws(FieldpackError) in try await replay.next() }
    }
  }
}

/// One reading of a layer.
private actor LayerReplay {
  private let store: any Store
  private let layer: LayerID
  private let deviceColumn: String?
  private var batches: FeatureBatches.Iterator?
  private var columns = FixColumns()
  /// Of lines, in their order, when all are read.
  private var vertices: [LocationUpdate]?
  private var next = 0

  private static let chunk = 1024

  init(_ store: any Store, _ layer: LayerID, _ deviceColumn: String?) {
    self.store = store
    self.layer = layer
    self.deviceColumn = deviceColumn
  }

  func next() async throws(FieldpackError) -> [LocationUpdate]? {
    if batches == nil { try await begin() }
    if vertices != nil { return nextVertices() }
    while let batch = try await batches?.next() {
      let fixes = try columns.fixes(in: batch)
      if !fixes.isEmpty { return fixes.map { .fix($0) } }
    }
    return nil
  }

  private func nextVertices() -> [LocationUpdate]? {
    guard let vertices, next < vertices.count else { return nil }
    let chunk = Array(vertices[next..<min(next + Self.chunk, vertices.count)])
    next += chunk.count
    return chunk
  }

  private func begin() async throws(FieldpackError) {
    guard let schema = try await store.schemas().first(where: { $0.layer == layer }) else {
      // The query says which layers there are.
      batches = try await store.query(Query(layer)).makeAsyncIterator()
      return
    }
    guard let geometry = schema.geometry else {
      throw FieldpackError(
        .invalidData, "layer '\(layer)' has no geometry. Try: a layer of points or lines",
        location: .init(store: store.id, layer: layer))
    }
    columns = try FixColumns(schema, device: deviceColumn)
    var query = Query(layer).select(columns.names).transformed(to: .wgs84)
    if let time = columns.time { query = query.order(by: [Order(columns.names[time])]) }
    batches = try await store.query(query).makeAsyncIterator()
    if geometry.type.isLine { try await readVertices() }
  }

  private func readVertices() async throws(FieldpackError) {
    var fixes: [Fix] = []
    while let batch = try await batches?.next() { fixes += try columns.fixes(in: batch) }
    let order = fixes.indices.sorted { a, b in
      switch (fixes[a].time, fixes[b].time) {
      case (let x?, let y?): (x, a) < (y, b)
      case (nil, _?): true
      case (_?, nil): false
      case (nil, nil): a < b
      }
    }
    vertices = order.map { .fix(fixes[$0]) }
  }
}

extension GeometryType {
  fileprivate var isLine: Bool {
    switch self {
    case .lineString, .multiLineString, .circularString, .compoundCurve, .multiCurve, .curve: true
    default: false
    }
  }
}

/// The columns of a layer that say something about its fixes, by their place in a query for them.
private struct FixColumns: Sendable {
  private(set) var names: [String] = []
  private(set) var time: Int?
  private var device: Int?
  private var accuracy: Int?

  init() {}

  init(_ schema: Schema, device: String?) throws(FieldpackError) {
    let dated = schema.columns.first { $0.type == .dateTime }?.name
    time = add(Self.column("time", in: schema) ?? dated)
    accuracy = add(Self.column("accuracy_m", in: schema) ?? Self.column("accuracy", in: schema))
    if let device {
      guard let known = Self.column(device, in: schema) else { throw schema.unknownColumn(device) }
      self.device = add(known)
    }
  }

  private static func column(_ name: String, in schema: Schema) -> String? {
    schema.columnIndex(name).map { schema.columns[$0].name }
  }

  /// A column may say two things.
  private mutating func add(_ name: String?) -> Int? {
    guard let name else { return nil }
    if let known = names.firstIndex(of: name) { return known }
    names.append(name)
    return names.count - 1
  }

  func fixes(in batch: FeatureBatch) throws(FieldpackError) -> [Fix] {
    var fixes: [Fix] = []
    fixes.reserveCapacity(batch.count)
    for index in 0..<batch.count {
      let row = batch[index]
      let key = KeyTuple(store: batch.store, layer: batch.schema.layer, feature: row.id)
      guard let geometry = try row.geometry(key: key) else { continue }
      var fix = Fix(longitude: 0, latitude: 0, time: time.flatMap { Self.moment(row, $0) })
      if let accuracy, row.kind(at: accuracy) != .null { fix.accuracy = row.real(at: accuracy) }
      if let device { fix.device = Self.name(row, device) }
      var positions = FixPositions(fix)
      geometry.linearized().visit(with: &positions)
      fixes += positions.fixes
    }
    return fixes
  }

  private static func moment(_ row: FeatureBatch.Row, _ column: Int) -> Instant? {
    guard row.kind(at: column) == .text else { return nil }
    return row.withBytes(at: column) { span in
      span.withUnsafeBytes { DateTimeParser.moment($0.assumingMemoryBound(to: UInt8.self)) }
    }
  }

  private static func name(_ row: FeatureBatch.Row, _ column: Int) -> String {
    switch row.kind(at: column) {
    case .integer: "\(row.integer(at: column))"
    case .real: "\(row.real(at: column))"
    case .text: row.text(at: column)
    case .null, .blob: ""
    }
  }
}

/// Makes a fix of each position.
private struct FixPositions: GeometryVisitor {
  let pattern: Fix
  private var isLine = false
  private(set) var fixes: [Fix] = []

  init(_ pattern: Fix) { self.pattern = pattern }

  mutating func begin(_ type: GeometryType, _ dimensions: Dimensions, count: Int?) {
    isLine = type == .lineString
  }

  mutating func beginRing(count: Int?) {}
  mutating func endRing() {}
  mutating func end(_ type: GeometryType) {}

  mutating func position(_ x: Double, _ y: Double, _ z: Double, _ m: Double) {
    var fix = pattern
    (fix.longitude, fix.latitude) = (x, y)
    if !z.isNaN { fix.elevation = z }
    // No calendar goes farther; a file may.
    if isLine, abs(m) < 1e12 { fix.time = Instant(milliseconds: Int64((m * 1000).rounded())) }
    fixes.append(fix)
  }
}
