package import FieldpackCore

/// Sorts records of one size in bounded memory: records beyond a limit wait in an unnamed temporary
/// file and are merged from there.
///
/// - Complexity: O(n) up to the limit, O(n log runs) beyond.
package struct SpillSort<Record: BitwiseCopyable>: ~Copyable {
  /// Records kept in memory; sorting takes another 16 bytes for each.
  private let limit: Int
  private let file: SpillFile
  private var records: [Record] = []
  /// The number of runs, of `limit` records each, in the file.
  private var runCount = 0

  package init(limit: Int, folder: String?) {
    self.limit = max(1, min(limit, Int(UInt32.max)))
    file = SpillFile(folder: folder)
  }

  package var count: Int { runCount * limit + records.count }

  private static var size: Int { MemoryLayout<Record>.stride }

  package mutating func append(_ record: Record) throws(FieldpackError) {
    if records.count == limit { try spill() }
    records.append(record)
  }

  private mutating func spill() throws(FieldpackError) {
    try Self.withBytes(of: records) { (bytes) throws(FieldpackError) in try file.append(bytes) }
    runCount += 1
    records.removeAll(keepingCapacity: true)
  }

  private static func withBytes(
    of records: [Record], _ body: (UnsafeRawBufferPointer) throws(FieldpackError) -> Void
  ) throws(FieldpackError) {
    var failure: FieldpackError?
    records.withUnsafeBytes { bytes in
      do throws(FieldpackError) { try body(bytes) } catch { failure = error }
    }
    if let failure { throw failure }
  }

  private static func read(
    _ count: Int, from first: Int, of file: SpillFile
  ) throws(FieldpackError) -> [Record] {
    var failure: FieldpackError?
    let records = [Record](unsafeUninitializedCapacity: count) { room, initialized in
      do throws(FieldpackError) {
        try file.read(into: UnsafeMutableRawBufferPointer(room), at: first * size)
        initialized = count
      } catch { failure = error }
    }
    if let failure { throw failure }
    return records
  }

  /// Gives the records in the order they came.
  package func visit(_ body: (Record) throws(FieldpackError) -> Void) throws(FieldpackError) {
    for run in 0..<runCount {
      var stretch = Stretch(run * limit, count: limit, bufferedAtOnce: 4096)
      while let record = try stretch.next(from: file) { try body(record) }
    }
    for record in records { try body(record) }
  }

  /// Gives the records by ascending key, those of equal keys in the order they came, and forgets
  /// them.
  package mutating func takeSorted(
    by key: (Record) -> UInt64, _ body: (Record) throws(FieldpackError) -> Void
  ) throws(FieldpackError) {
    defer {
      records = []
      runCount = 0
    }
    guard runCount > 0 else {
      try visit(in: Self.order(of: records, by: key), body)
      return
    }
    let total = count
    try sortRuns(by: key)
    records = []
    try merge(total, by: key, body)
  }

  // MARK: In memory

  /// Gives the records in an order. They lie apart in memory, so many are fetched at a time: the
  /// processor waits for all of them at once then.
  private func visit(
    in order: [UInt64], _ body: (Record) throws(FieldpackError) -> Void
  ) throws(FieldpackError) {
    var fetched: [Record] = []
    fetched.reserveCapacity(256)
    for start in stride(from: 0, to: order.count, by: 256) {
      fetched.removeAll(keepingCapacity: true)
      for index in order[start..<min(start + 256, order.count)] {
        fetched.append(records[Int(truncatingIfNeeded: index & 0xFFFF_FFFF)])
      }
      for record in fetched { try body(record) }
    }
  }

  /// The indexes of the records, ordered by key; an index is the lower half of an element.
  private static func order(of records: [Record], by key: (Record) -> UInt64) -> [UInt64] {
    var keys: [UInt64] = []
    keys.reserveCapacity(records.count)
    var (low, high) = (UInt64.max, UInt64.min)
    for record in records {
      let key = key(record)
      (low, high) = (min(low, key), max(high, key))
      keys.append(key)
    }
    guard high >= low, high - low > UInt64(UInt32.max) else {
      for index in keys.indices { keys[index] = (keys[index] - low) << 32 | UInt64(index) }
      RadixSort.sortByUpperHalf(&keys)
      return keys
    }
    // Keys that differ by more than 32 bits are rare, so that a slower sort will do.
    return keys.indices.sorted { (keys[$0], $0) < (keys[$1], $1) }.map(UInt64.init)
  }

  // MARK: In the file

  /// Sorts each run and writes it back to where it was; the records in memory become the last run.
  private mutating func sortRuns(by key: (Record) -> UInt64) throws(FieldpackError) {
    if !records.isEmpty {
      try putSorted(by: key, at: runCount * limit)
    }
    for run in 0..<runCount {
      records = []
      records = try Self.read(limit, from: run * limit, of: file)
      try putSorted(by: key, at: run * limit)
    }
  }

  private func putSorted(
    by key: (Record) -> UInt64, at first: Int
  ) throws(FieldpackError) {
    var buffer: [Record] = []
    buffer.reserveCapacity(4096)
    var written = first
    let order = Self.order(of: records, by: key)
    for (number, index) in order.enumerated() {
      buffer.append(records[Int(truncatingIfNeeded: index & 0xFFFF_FFFF)])
      guard buffer.count == 4096 || number == order.count - 1 else { continue }
      let offset = written * Self.size
      try Self.withBytes(of: buffer) { (bytes) throws(FieldpackError) in
        if offset < file.end {
          try file.write(bytes, at: offset)
        } else {
          try file.append(bytes)
        }
      }
      written += buffer.count
      buffer.removeAll(keepingCapacity: true)
    }
  }

  private func merge(
    _ total: Int, by key: (Record) -> UInt64, _ body: (Record) throws(FieldpackError) -> Void
  ) throws(FieldpackError) {
    let runs = (total + limit - 1) / limit
    let bufferedAtOnce = max(64, min(4096, limit / runs))
    var stretches: [Stretch] = []
    var heap = Heap<MergeEntry>()
    for run in 0..<runs {
      var stretch = Stretch(
        run * limit, count: min(limit, total - run * limit), bufferedAtOnce: bufferedAtOnce)
      if let first = try stretch.next(from: file) {
        heap.insert(MergeEntry(key: key(first), run: run))
      }
      stretches.append(stretch)
    }
    while let run = heap.first?.run {
      try body(stretches[run].last)
      if let next = try stretches[run].next(from: file) {
        heap.replaceFirst(MergeEntry(key: key(next), run: run))
      } else {
        _ = heap.removeFirst()
      }
    }
  }

  /// Consecutive records of the file, read a few at a time.
  private struct Stretch {
    private var following: Int
    private let end: Int
    private let bufferedAtOnce: Int
    private var buffer: [Record] = []
    private var index = 0

    init(_ first: Int, count: Int, bufferedAtOnce: Int) {
      following = first
      end = first + count
      self.bufferedAtOnce = bufferedAtOnce
    }

    /// The record given last.
    var last: Record { buffer[index - 1] }

    mutating func next(from file: SpillFile) throws(FieldpackError) -> Record? {
      if index == buffer.count {
        guard following < end else { return nil }
        try fill(from: file)
      }
      index += 1
      return buffer[index - 1]
    }

    private mutating func fill(from file: SpillFile) throws(FieldpackError) {
      let wanted = min(bufferedAtOnce, end - following)
      buffer = try SpillSort.read(wanted, from: following, of: file)
      following += wanted
      index = 0
    }
  }
}

/// A run of a merge and the key of its next record.
private struct MergeEntry: HeapElement {
  var key: UInt64
  var run: Int

  func precedes(_ other: MergeEntry) -> Bool { (key, run) < (other.key, other.run) }
}
