/// Counts the values of one column.
struct ColumnTally {
  private var nullCount = 0
  private var integers = IntegerTally()
  private var reals = RealTally()
  private var texts = TextTally()
  private var blobCount = 0
  private var blobLengths: ClosedRange<Int>?
  private var distinct = DistinctValues()

  /// The values of ``ColumnStatistics/mostFrequent``.
  private static let mostFrequent = 5

  /// Counts each cell from `start` on, in steps of `width`.
  mutating func add(
    _ cells: UnsafeBufferPointer<RowCells.Cell>, from start: Int, by width: Int,
    _ bytes: UnsafeRawBufferPointer
  ) {
    var index = start
    while index < cells.count {
      let cell = cells[index]
      index += width
      switch cell.kind {
      case .null: nullCount += 1
      case .integer:
        integers.add(cell.integer)
        distinct.add(number: cell)
      case .real:
        reals.add(cell.real)
        distinct.add(number: cell)
      case .text, .blob:
        let content = UnsafeRawBufferPointer(rebasing: bytes[cell.range])
        distinct.add(cell.kind, content)
        if cell.kind == .text { texts.add(content) } else { addBlob(content.count) }
      }
    }
  }

  mutating func merge(_ other: ColumnTally) {
    nullCount += other.nullCount
    integers.merge(other.integers)
    reals.merge(other.reals)
    texts.merge(other.texts)
    if let lengths = other.blobLengths {
      addBlob(lengths.lowerBound)
      addBlob(lengths.upperBound)
      blobCount += other.blobCount - 2
    }
    distinct.merge(other.distinct)
  }

  func statistics(of column: ColumnDefinition) -> ColumnStatistics {
    var found = ColumnStatistics(column: column.name, type: column.type)
    found.nullCount = nullCount
    let kinds: [(ValueKind, Int)] = [
      (.integer, integers.count), (.real, reals.count), (.text, texts.count), (.blob, blobCount),
    ]
    found.kinds = Dictionary(uniqueKeysWithValues: kinds.filter { $0.1 > 0 })
    (found.distinctCount, found.distinctIsEstimated) = distinct.count
    let values = kinds.reduce(0) { $0 + $1.1 }
    if found.distinctIsEstimated { found.distinctCount = min(found.distinctCount, values) }
    let ends = integers.ends + reals.ends + texts.ends
    found.least = ends.min { $0.sorts(before: $1) }.map { column.type.value($0) }
    found.greatest = ends.max { $0.sorts(before: $1) }.map { column.type.value($0) }
    found.blobLengths = blobLengths
    if column.type != .boolean { found.mean = mean }
    found.mostFrequent = distinct.mostFrequent(Self.mostFrequent).map {
      .init(value: column.type.value($0.value), count: $0.count)
    }
    return found
  }

  private var mean: Double? {
    let count = integers.count + reals.countOfNumbers
    guard count > 0 else { return nil }
    let mean = (reals.sum + Double(integers.sum) + reals.lost) / Double(count)
    return mean.isFinite ? mean : nil
  }

  private mutating func addBlob(_ length: Int) {
    blobCount += 1
    let known = blobLengths ?? length...length
    blobLengths = min(known.lowerBound, length)...max(known.upperBound, length)
  }
}

struct IntegerTally {
  private(set) var count = 0
  /// 2^63 values of 64 bits cannot pass 127 bits.
  private(set) var sum: Int128 = 0
  private var least = Int64.max
  private var greatest = Int64.min

  mutating func add(_ value: Int64) {
    count += 1
    sum += Int128(value)
    least = min(least, value)
    greatest = max(greatest, value)
  }

  mutating func merge(_ other: IntegerTally) {
    count += other.count
    sum += other.sum
    least = min(least, other.least)
    greatest = max(greatest, other.greatest)
  }

  /// The least and the greatest value.
  var ends: [Value] { count == 0 ? [] : [.integer(least), .integer(greatest)] }
}

/// Counts reals. NaN is counted, and is neither least nor greatest nor part of the mean.
struct RealTally {
  private(set) var count = 0
  private(set) var countOfNumbers = 0
  private(set) var sum = 0.0
  /// What ``sum`` has lost by rounding (Neumaier 1974).
  private(set) var lost = 0.0
  private var least = Double.infinity
  private var greatest = -Double.infinity

  mutating func add(_ value: Double) {
    count += 1
    guard !value.isNaN else { return }
    countOfNumbers += 1
    if value < least { least = value }
    if value > greatest { greatest = value }
    add(toSum: value)
  }

  mutating func merge(_ other: RealTally) {
    count += other.count
    countOfNumbers += other.countOfNumbers
    least = min(least, other.least)
    greatest = max(greatest, other.greatest)
    add(toSum: other.sum)
    lost += other.lost
  }

  private mutating func add(toSum value: Double) {
    let total = sum + value
    lost += abs(sum) >= abs(value) ? (sum - total) + value : (value - total) + sum
    sum = total
  }

  var ends: [Value] { countOfNumbers == 0 ? [] : [.real(least), .real(greatest)] }
}

/// Counts texts, which compare by their bytes.
struct TextTally {
  private(set) var count = 0
  private var least: [UInt8] = []
  private var greatest: [UInt8] = []

  mutating func add(_ text: UnsafeRawBufferPointer) {
    if count == 0 {
      least = Array(text)
      greatest = least
    } else if least.withUnsafeBytes({ text.precedes($0) }) {
      least = Array(text)
    } else if greatest.withUnsafeBytes({ $0.precedes(text) }) {
      greatest = Array(text)
    }
    count += 1
  }

  mutating func merge(_ other: TextTally) {
    guard other.count > 0 else { return }
    other.least.withUnsafeBytes { add($0) }
    other.greatest.withUnsafeBytes { add($0) }
    count += other.count - 2
  }

  var ends: [Value] {
    guard count > 0 else { return [] }
    return [least, greatest].map { .text(String(decoding: $0, as: UTF8.self)) }
  }
}
