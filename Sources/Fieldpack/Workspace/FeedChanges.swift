public import FieldpackCore

/// What a new version of a feed brought.
///
/// A feature without an id of its own is known by its contents, so a change to it is listed as one that
/// was deleted and one that was created.
public struct FeedChanges: Hashable, Sendable {
  /// The most features that a list has.
  public static let capacity = 4096
  public internal(set) var created: [KeyTuple] = []
  public internal(set) var updated: [KeyTuple] = []
  public internal(set) var deleted: [KeyTuple] = []
  /// How many features changed beside those that are listed.
  public internal(set) var untold = 0

  init() {}

  /// Whether all features are as they were.
  public var isEmpty: Bool {
    created.isEmpty && updated.isEmpty && deleted.isEmpty && untold == 0
  }
}

/// Finds what differs between two readings of a file.
///
/// Each feature counts as two hashes, 16 bytes, so that a million features take little memory.
struct VersionComparison: Sendable {
  let old: any Store
  let new: any Store

  func changes() async throws(FieldpackError) -> FeedChanges {
    let before = try await old.scan(Query(), into: FeatureHashes()).sorted()
    let after = try await new.scan(Query(), into: FeatureHashes()).sorted()
    let (gone, changed, come) = Self.differences(before, after)
    var changes = FeedChanges()
    if !gone.isEmpty {
      let keys = try await old.scan(Query(), into: WantedKeys(store: old.id, [gone]))
      changes.deleted = keys.found[0]
    }
    if !come.isEmpty || !changed.isEmpty {
      let keys = try await new.scan(Query(), into: WantedKeys(store: old.id, [come, changed]))
      (changes.created, changes.updated) = (keys.found[0], keys.found[1])
    }
    let listed = changes.created.count + changes.updated.count + changes.deleted.count
    changes.untold = max(0, gone.count + changed.count + come.count - listed)
    return changes
  }

  private static func differences(
    _ before: [FeatureHashes.Entry], _ after: [FeatureHashes.Entry]
  ) -> (gone: Set<UInt64>, changed: Set<UInt64>, come: Set<UInt64>) {
    var (gone, changed, come) = (Set<UInt64>(), Set<UInt64>(), Set<UInt64>())
    var (left, right) = (0, 0)
    while left < before.count || right < after.count {
      if right == after.count || (left < before.count && before[left].id < after[right].id) {
        gone.insert(before[left].id)
        left += 1
      } else if left == before.count || after[right].id < before[left].id {
        come.insert(after[right].id)
        right += 1
      } else {
        if before[left].contents != after[right].contents { changed.insert(after[right].id) }
        (left, right) = (left + 1, right + 1)
      }
    }
    return (gone, changed, come)
  }
}

/// A hash of each feature's layer and id, and one of its contents.
private struct FeatureHashes: FeatureSink, Sendable {
  struct Entry {
    var id: UInt64
    var contents: UInt64
  }

  private var entries: [Entry] = []
  private var layer = LayerHash("")
  private var columnCount = 0
  /// Whether the ids are the file's own, so that they do not tell the contents.
  private var hasOwnIDs = false

  mutating func begin(_ schema: Schema) {
    layer = LayerHash(schema.layer)
    columnCount = schema.columns.count
    hasOwnIDs = schema.idColumn != nil
  }

  mutating func feature(_ row: borrowing some FeatureRow & ~Copyable) {
    entries.append(Entry(id: layer.id(row.id), contents: hasOwnIDs ? contents(row) : 0))
  }

  private func contents(_ row: borrowing some FeatureRow & ~Copyable) -> UInt64 {
    var hash = FNV1a()
    for column in 0..<columnCount {
      let kind = row.kind(at: column)
      switch kind {
      case .null: hash.update(0)
      case .integer:
        hash.update(1)
        hash.add(UInt64(bitPattern: row.integer(at: column)))
      case .real:
        hash.update(2)
        hash.add(row.real(at: column).bitPattern)
      case .text, .blob:
        hash.update(kind == .text ? 3 : 4)
        row.withBytes(at: column) { hash.add($0) }
      }
    }
    _ = row.withGeometry { hash.add($0) }
    return hash.value
  }

  func sorted() -> [Entry] { entries.sorted { $0.id < $1.id } }
}

/// Begins the hash of an id with the layer's name.
private struct LayerHash: Sendable {
  private var start = FNV1a()

  init(_ layer: LayerID) {
    for byte in layer.rawValue.utf8 { start.update(byte) }
    start.update(0)
  }

  func id(_ id: FeatureID) -> UInt64 {
    var hash = start
    switch id {
    case .integer(let number): hash.add(UInt64(bitPattern: number))
    case .text(let text): for byte in text.utf8 { hash.update(byte) }
    }
    return hash.value
  }
}

/// The keys of the features whose hashes are in sets, as many as a list may have.
private struct WantedKeys: FeatureSink, Sendable {
  let store: StoreID
  let wanted: [Set<UInt64>]
  var found: [[KeyTuple]]
  private var layer: (id: LayerID, hash: LayerHash) = ("", LayerHash(""))

  init(store: StoreID, _ wanted: [Set<UInt64>]) {
    (self.store, self.wanted) = (store, wanted)
    found = wanted.map { _ in [] }
  }

  mutating func begin(_ schema: Schema) { layer = (schema.layer, LayerHash(schema.layer)) }

  mutating func feature(_ row: borrowing some FeatureRow & ~Copyable) {
    let id = row.id
    let hash = layer.hash.id(id)
    for index in wanted.indices
    where found[index].count < FeedChanges.capacity && wanted[index].contains(hash) {
      found[index].append(KeyTuple(store: store, layer: layer.id, feature: id))
    }
  }
}

extension FNV1a {
  fileprivate mutating func add(_ number: UInt64) {
    for shift in stride(from: 0, to: 64, by: 8) {
      update(UInt8(truncatingIfNeeded: number >> UInt64(shift)))
    }
  }

  fileprivate mutating func add(_ span: RawSpan) {
    span.withUnsafeBytes { for byte in $0 { update(byte) } }
  }
}
