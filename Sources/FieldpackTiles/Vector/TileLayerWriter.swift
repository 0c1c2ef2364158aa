import FieldpackCore

/// The kind of a feature's geometry in a vector tile, with the codes of the format.
enum TileGeometryKind: UInt8 {
  case points = 1
  case lines = 2
  case polygons = 3
}

/// Writes one layer of a vector tile, feature by feature
/// (https://github.com/mapbox/vector-tile-spec/tree/master/2.1).
///
/// A feature is written so: ``begin(_:)``, then its properties, then for each kind of geometry that it
/// has the commands of ``geometry(_:)`` and ``end(_:)``.
final class TileLayerWriter {
  private let name: String
  private let extent: Int
  private var keys: [String] = []
  /// Behind a pointer, because each access to a property of a class is checked while the program runs,
  /// which took a tenth of the time of a tile.
  private let state: UnsafeMutablePointer<TileLayerState>

  init(name: String, extent: Int) {
    self.name = name
    self.extent = extent
    state = TileLayerRoom.take()
  }

  deinit { TileLayerRoom.giveBack(state) }

  /// The number of features.
  var count: Int { state.pointee.count }

  // MARK: Features

  /// Begins a feature without properties. The format has no ids that are negative or texts.
  func begin(_ id: FeatureID) {
    state.pointee.id = if case .integer(let number) = id { UInt64(exactly: number) } else { nil }
    state.pointee.tags.removeAll()
  }

  /// The index of a new key.
  func addKey(_ key: String) -> Int {
    keys.append(key)
    return keys.count - 1
  }

  func add(_ key: Int, text: UnsafeBufferPointer<UInt8>) {
    state.pointee.add(key, state.pointee.values.index(ofText: text))
  }
  func add(_ key: Int, real: Double) {
    state.pointee.add(key, state.pointee.values.index(ofReal: real))
  }
  func add(_ key: Int, integer: Int64) {
    state.pointee.add(key, state.pointee.values.index(ofInteger: integer))
  }
  func add(_ key: Int, flag: Bool) {
    state.pointee.add(key, state.pointee.values.index(ofFlag: flag))
  }

  /// The commands and positions of the geometry that is being written.
  @inline(__always)
  func geometry(_ body: (inout TileCommands) -> Void) { body(&state.pointee.geometry) }

  /// Writes the feature with the commands of ``geometry(_:)``, which are empty then.
  func end(_ kind: TileGeometryKind) { state.pointee.end(kind) }

  // MARK: The layer

  /// Appends the layer to a tile; nothing where it has no features.
  func write(to tile: inout [UInt8]) {
    guard count > 0 else { return }
    var head = GrowingBytes()
    head.append(0x78)
    head.append(2)
    Self.append(0x0A, name, to: &head)
    var names = GrowingBytes()
    for key in keys { Self.append(0x1A, key, to: &names) }
    var tail = GrowingBytes(capacity: 16)
    tail.append(0x28)
    Varint.append(UInt64(extent), to: &tail)
    let (features, values) = (state.pointee.features.bytes, state.pointee.values.bytes.bytes)
    let length = head.count + features.count + names.count + values.count + tail.count
    var start = GrowingBytes(capacity: 16)
    start.append(0x1A)
    Varint.append(UInt64(length), to: &start)
    tile.reserveCapacity(tile.count + start.count + length)
    tile.append(contentsOf: start.bytes)
    tile.append(contentsOf: head.bytes)
    tile.append(contentsOf: features)
    tile.append(contentsOf: names.bytes)
    tile.append(contentsOf: values)
    tile.append(contentsOf: tail.bytes)
  }

  private static func append(_ tag: UInt8, _ text: String, to bytes: inout GrowingBytes) {
    var text = text
    text.withUTF8 { utf8 in
      bytes.append(tag)
      Varint.append(UInt64(utf8.count), to: &bytes)
      bytes.append(utf8)
    }
  }
}

/// What a layer has so far.
private struct TileLayerState: ~Copyable {
  var geometry = TileCommands()
  var count = 0
  var features = GrowingBytes(capacity: 16_384)
  var values = TileValues()
  var tags = GrowingBytes()
  var id: UInt64?

  /// How many bytes it has, and about half of those that it has room for.
  var size: Int { features.count + values.bytes.count }

  mutating func removeAll() {
    (count, id) = (0, nil)
    geometry.removeAll()
    features.removeAll()
    values.removeAll()
    tags.removeAll()
  }

  @inline(__always)
  mutating func add(_ key: Int, _ value: Int) {
    Varint.append(UInt64(key), to: &tags)
    Varint.append(UInt64(value), to: &tags)
  }

  mutating func end(_ kind: TileGeometryKind) {
    let (tagCount, size) = (tags.count, geometry.bytes.count)
    var length = 2 + 1 + Varint.size(UInt64(size)) + size
    if let id { length += 1 + Varint.size(id) }
    if tagCount > 0 { length += 1 + Varint.size(UInt64(tagCount)) + tagCount }
    features.reserve(length + 16)
    features.append(0x12)
    Varint.append(UInt64(length), to: &features)
    if let id {
      features.append(0x08)
      Varint.append(id, to: &features)
    }
    if tagCount > 0 {
      features.append(0x12)
      Varint.append(UInt64(tagCount), to: &features)
      features.append(tags.bytes)
    }
    features.append(0x18)
    features.append(kind.rawValue)
    features.append(0x22)
    Varint.append(UInt64(size), to: &features)
    features.append(geometry.bytes.bytes)
    geometry.removeAll()
    count += 1
  }
}

/// Keeps the memory of some layers that are written for the next ones.
///
/// The system gives large memory page by page when it is used first. Of a tile of 8,000 points that took a
/// twentieth of the time.
private enum TileLayerRoom {
  /// `@unchecked` because one owner at a time uses a state.
  private struct Kept: @unchecked Sendable {
    let state: UnsafeMutablePointer<TileLayerState>
  }

  private static let kept = Locked<[Kept]>([])
  /// Two cores make two tiles at a time; with 4 kept, tiles of zoom 8 took as long.
  private static let most = 2
  /// What has more bytes is not kept.
  private static let mostBytes = 1 << 20

  static func take() -> UnsafeMutablePointer<TileLayerState> {
    if let kept = kept.withLock({ $0.popLast() }) { return kept.state }
    let state = UnsafeMutablePointer<TileLayerState>.allocate(capacity: 1)
    state.initialize(to: TileLayerState())
    return state
  }

  static func giveBack(_ state: UnsafeMutablePointer<TileLayerState>) {
    let isSmall = state.pointee.size <= mostBytes
    state.pointee.removeAll()
    let one = Kept(state: state)
    let isKept = kept.withLock { kept in
      guard isSmall, kept.count < most else { return false }
      kept.append(one)
      return true
    }
    guard !isKept else { return }
    state.deinitialize(count: 1)
    state.deallocate()
  }
}

/// The commands of one geometry: MoveTo, LineTo and ClosePath with the steps from one position to the
/// next.
struct TileCommands: ~Copyable {
  private(set) var bytes = GrowingBytes()
  private var last = SIMD2<Int32>(0, 0)

  var isEmpty: Bool { bytes.count == 0 }

  mutating func removeAll() {
    bytes.removeAll()
    last = SIMD2(0, 0)
  }

  mutating func points(_ points: some Collection<SIMD2<Int32>>) {
    command(1, points.count)
    for point in points { move(to: point) }
  }

  @inline(__always)
  mutating func point(_ point: SIMD2<Int32>) {
    bytes.append(9)
    move(to: point)
  }

  /// - Precondition: at least two positions.
  mutating func line(_ line: ArraySlice<SIMD2<Int32>>) {
    point(line[line.startIndex])
    command(2, line.count - 1)
    for position in line.dropFirst() { move(to: position) }
  }

  /// A ring without its last position, which is the first one.
  ///
  /// - Precondition: at least three positions.
  mutating func ring(_ ring: ArraySlice<SIMD2<Int32>>, isReversed: Bool) {
    point(ring[ring.startIndex])
    command(2, ring.count - 1)
    if isReversed {
      for position in ring.dropFirst().reversed() { move(to: position) }
    } else {
      for position in ring.dropFirst() { move(to: position) }
    }
    command(7, 1)
  }

  @inline(__always)
  private mutating func command(_ code: UInt64, _ count: Int) {
    Varint.append(UInt64(count) << 3 | code, to: &bytes)
  }

  @inline(__always)
  private mutating func move(to position: SIMD2<Int32>) {
    let step = position &- last
    Varint.append(Varint.zigzag(Int64(step.x)), to: &bytes)
    Varint.append(Varint.zigzag(Int64(step.y)), to: &bytes)
    last = position
  }
}
