import FieldpackCore

/// One column of a record batch while it is filled.
struct ArrowColumn {
  let type: ArrowType
  private(set) var count = 0
  private(set) var nullCount = 0
  /// A bit a row, as soon as there is a null.
  private(set) var validity = ArrowMemory()
  /// Where each text or blob ends, after a 0.
  private(set) var offsets = ArrowMemory()
  private(set) var values = ArrowMemory()

  init(_ type: ArrowType) {
    self.type = type
    if type == .utf8 || type == .binary { offsets.append(Int32(0)) }
  }

  var byteCount: Int { values.count }

  func free() {
    for memory in [validity, offsets, values] { memory.free() }
  }

  /// Adds the value that a row holds at `column`; one that is not of the type becomes null, and the
  /// answer false.
  @inline(__always)
  mutating func append(
    _ row: borrowing some FeatureRow & ~Copyable, _ column: Int
  ) throws(FieldpackError) -> Bool {
    let kind = row.kind(at: column)
    if kind == .null {
      try appendNull()
      return true
    }
    switch (type, kind) {
    case (.int64, .integer): append(row.integer(at: column))
    case (.double, .real), (.double, .integer): append(row.real(at: column))
    case (.boolean, .integer): append(flag: row.integer(at: column) != 0)
    case (.utf8, .text):
      try row.withBytes(at: column) { span throws(FieldpackError) in try append(utf8: span) }
    case (.binary, .blob), (.binary, .text):
      try row.withBytes(at: column) { span throws(FieldpackError) in try append(span) }
    case (.utf8, .integer): try append(text: "\(row.integer(at: column))")
    case (.utf8, .real): try append(text: "\(row.real(at: column))")
    case (.date32, .text), (.timestamp, .text):
      return try row.withBytes(at: column) { span throws(FieldpackError) in
        try appendMoment(span)
      }
    default:
      try appendNull()
      return false
    }
    return true
  }

  mutating func append(_ value: some BitwiseCopyable) {
    values.append(value)
    end(isNull: false)
  }

  mutating func append(flag: Bool) {
    if count & 7 == 0 { values.append(UInt8(0)) }
    values.set(bit: count, to: flag)
    end(isNull: false)
  }

  mutating func append(_ bytes: RawSpan) throws(FieldpackError) {
    bytes.withUnsafeBytes { values.append($0) }
    try endBytes(isNull: false)
  }

  /// Adds a text; bytes that are not UTF-8, which Arrow does not allow, become U+FFFD.
  mutating func append(utf8 bytes: RawSpan) throws(FieldpackError) {
    if bytes.isASCII { return try append(bytes) }
    try append(text: bytes.withUnsafeBytes { String(decoding: $0, as: UTF8.self) })
  }

  mutating func append(text: String) throws(FieldpackError) {
    var text = text
    text.withUTF8 { values.append(UnsafeRawBufferPointer($0)) }
    try endBytes(isNull: false)
  }

  mutating func appendNull() throws(FieldpackError) {
    switch type {
    case .utf8, .binary: return try endBytes(isNull: true)
    case .int64, .double, .timestamp: values.append(Int64(0))
    case .date32: values.append(Int32(0))
    case .boolean: if count & 7 == 0 { values.append(UInt8(0)) }
    }
    end(isNull: true)
  }

  /// A DATE, or a DATETIME in UTC unless it says otherwise; null and false for other texts.
  private mutating func appendMoment(_ span: RawSpan) throws(FieldpackError) -> Bool {
    let moment = span.withUnsafeBytes { bytes in
      bytes.withMemoryRebound(to: UInt8.self) { DateTimeParser.moment($0) }
    }
    guard let moment else {
      try appendNull()
      return false
    }
    if type == .timestamp {
      append(moment.milliseconds)
    } else {
      let day = moment.milliseconds.quotientAndRemainder(dividingBy: 86_400_000)
      append(Int32(truncatingIfNeeded: day.remainder < 0 ? day.quotient - 1 : day.quotient))
    }
    return true
  }

  private mutating func endBytes(isNull: Bool) throws(FieldpackError) {
    guard let end = Int32(exactly: values.count) else {
      throw FieldpackError(
        .unsupported, "a record batch cannot hold \(values.count) bytes in one column")
    }
    offsets.append(end)
    self.end(isNull: isNull)
  }

  private mutating func end(isNull: Bool) {
    if isNull || nullCount > 0 { mark(isNull: isNull) }
    count += 1
  }

  private mutating func mark(isNull: Bool) {
    let byteCount = (count >> 3) + 1
    validity.append(repeating: 0xFF, count: byteCount - validity.count)
    if isNull {
      validity.set(bit: count, to: false)
      nullCount += 1
    }
  }
}

extension RawSpan {
  fileprivate var isASCII: Bool {
    withUnsafeBytes { bytes in
      var offset = 0
      var seen: UInt64 = 0
      while offset + 8 <= bytes.count {
        seen |= bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
        offset += 8
      }
      while offset < bytes.count {
        seen |= UInt64(bytes[offset])
        offset += 1
      }
      return seen & 0x8080_8080_8080_8080 == 0
    }
  }
}
