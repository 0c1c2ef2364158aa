import FieldpackCore

/// Writes the values of a row whose columns are of simple types in one go, into memory that is long enough
/// for all of them.
///
/// It gives up where a value is not of the kind that its column has, which ``BinaryType`` then looks at.
struct PlainFields: Sendable {
  private enum Kind: UInt8 { case bool, int2, int4, int8, float8, text, bytea, instant }

  private let kinds: [Kind]
  /// The longest texts of the columns, in characters.
  private let limits: [Int]

  /// `nil` where a column is of another type.
  init?(_ types: [BinaryType]) {
    var (kinds, limits) = ([Kind](), [Int]())
    for type in types {
      switch type {
      case .bool: kinds.append(.bool)
      case .int2: kinds.append(.int2)
      case .int4: kinds.append(.int4)
      case .int8: kinds.append(.int8)
      case .float8: kinds.append(.float8)
      case .text: kinds.append(.text)
      case .bytea: kinds.append(.bytea)
      case .timestamptz: kinds.append(.instant)
      default: return nil
      }
      if case .text(let limit?) = type { limits.append(limit) } else { limits.append(.max) }
    }
    (self.kinds, self.limits) = (kinds, limits)
  }

  /// Appends the fields, each with its length; `false`, with nothing appended, where it gives up.
  func append(_ cells: borrowing RowCells, to bytes: inout [UInt8]) -> Bool {
    var isWritten = false
    // Cells may share bytes.
    let length = cells.cells.reduce(12 * kinds.count) { $0 + $1.range.count }
    bytes.append(addingCapacity: length) { output in
      output.withUnsafeMutableBufferPointer { buffer, count in
        cells.bytes.withUnsafeBytes { content in
          cells.cells.withUnsafeBufferPointer { cells in
            let target = UnsafeMutableRawBufferPointer(buffer)
            guard let end = write(cells, content, to: target) else { return }
            count = end
            isWritten = true
          }
        }
      }
    }
    return isWritten
  }

  /// The number of bytes that were written; `nil` where it gives up.
  @inline(__always)
  private func write(
    _ cells: UnsafeBufferPointer<RowCells.Cell>, _ content: UnsafeRawBufferPointer,
    to target: UnsafeMutableRawBufferPointer
  ) -> Int? {
    guard cells.count == kinds.count else { return nil }
    var end = 0
    for (index, cell) in cells.enumerated() {
      if cell.kind == .null {
        Self.put(Int32(-1), target, &end)
        continue
      }
      switch (kinds[index], cell.kind) {
      case (.bool, .integer):
        guard cell.bits <= 1 else { return nil }
        Self.put(Int32(1), target, &end)
        Self.put(UInt8(cell.bits), target, &end)
      case (.int2, .integer):
        guard let number = Int16(exactly: cell.integer) else { return nil }
        Self.put(Int32(2), target, &end)
        Self.put(number, target, &end)
      case (.int4, .integer):
        guard let number = Int32(exactly: cell.integer) else { return nil }
        Self.put(Int32(4), target, &end)
        Self.put(number, target, &end)
      case (.int8, .integer), (.float8, .real):
        Self.put(Int32(8), target, &end)
        Self.put(cell.bits, target, &end)
      case (.text, .text), (.bytea, .blob):
        let part = UnsafeRawBufferPointer(rebasing: content[cell.range])
        if cell.kind == .text, !Self.isPlain(part) || part.count > limits[index] {
          guard BinaryType.isText(part.bindMemory(to: UInt8.self), limits[index]) else {
            return nil
          }
        }
        Self.put(Int32(clamping: part.count), target, &end)
        UnsafeMutableRawBufferPointer(rebasing: target[end...]).copyMemory(from: part)
        end += part.count
      case (.instant, .text):
        let part = UnsafeRawBufferPointer(rebasing: content[cell.range])
        guard let moment = BinaryTime(utc: part) else { return nil }
        Self.put(Int32(8), target, &end)
        Self.put(moment.microseconds, target, &end)
      default: return nil
      }
    }
    return end
  }

  @inline(__always)
  private static func put<Number: FixedWidthInteger & BitwiseCopyable>(
    _ number: Number, _ target: UnsafeMutableRawBufferPointer, _ end: inout Int
  ) {
    target.storeBytes(of: number.bigEndian, toByteOffset: end, as: Number.self)
    end += MemoryLayout<Number>.size
  }

  /// Whether a text is ASCII without NUL, eight bytes at a time.
  @inline(__always)
  private static func isPlain(_ text: UnsafeRawBufferPointer) -> Bool {
    var offset = 0
    while text.count - offset >= 8 {
      let word = text.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
      // A byte with its highest bit, or one that is 0 and borrows.
      if (word | (word &- 0x0101_0101_0101_0101)) & 0x8080_8080_8080_8080 != 0 { return false }
      offset += 8
    }
    while offset < text.count {
      guard (1..<0x80).contains(text[offset]) else { return false }
      offset += 1
    }
    return true
  }
}

extension BinaryTime {
  /// Reads `YYYY-MM-DDThh:mm:ssZ`, also with three digits of the second; `nil` for every other form.
  init?(utc text: UnsafeRawBufferPointer) {
    guard text.count == 24 || text.count == 20, text[text.count - 1] == UInt8(ascii: "Z"),
      text[4] == UInt8(ascii: "-"), text[7] == UInt8(ascii: "-"), text[10] == UInt8(ascii: "T"),
      text[13] == UInt8(ascii: ":"), text[16] == UInt8(ascii: ":")
    else { return nil }
    var isRight = true
    func number(_ places: Range<Int>) -> Int {
      var number = 0
      for place in places {
        let digit = text[place] &- UInt8(ascii: "0")
        if digit > 9 { isRight = false }
        number = number * 10 + Int(digit)
      }
      return number
    }
    let (hour, minute, second) = (number(11..<13), number(14..<16), number(17..<19))
    var milliseconds = 0
    if text.count == 24 {
      isRight = text[19] == UInt8(ascii: ".") && isRight
      milliseconds = number(20..<23)
    }
    let (year, month, day) = (number(0..<4), number(5..<7), number(8..<10))
    guard isRight, hour < 24, minute < 60, second < 60,
      let date = CalendarDate(year: year, month: month, day: day)
    else { return nil }
    let seconds = (date.dayNumber - Self.epochDay) * 86_400 + hour * 3600 + minute * 60 + second
    self.init(microseconds: Int64(seconds * 1_000_000 + milliseconds * 1000))
  }
}
