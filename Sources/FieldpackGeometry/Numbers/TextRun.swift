/// Reserved bytes at the end of an array, written together.
///
/// Appending a byte to an array checks each time whether the array is shared and has capacity. Here
/// only the capacity is checked, once for each number or text.
@usableFromInline
package struct TextRun {
  @usableFromInline var next: UnsafeMutablePointer<UInt8>
  @usableFromInline let end: UnsafeMutablePointer<UInt8>

  @inlinable @inline(__always)
  init(next: UnsafeMutablePointer<UInt8>, end: UnsafeMutablePointer<UInt8>) {
    self.next = next
    self.end = end
  }

  /// Writes what `body` appends, at most `limit` bytes.
  ///
  /// - Returns: the number of bytes.
  @inlinable @inline(__always)
  package static func write(
    at start: UnsafeMutablePointer<UInt8>, upTo limit: Int, _ body: (inout TextRun) -> Void
  ) -> Int {
    var run = TextRun(next: start, end: start + limit)
    body(&run)
    return run.next - start
  }

  @inlinable @inline(__always)
  func require(_ count: Int) {
    precondition(end - next >= count, "more is written than room was reserved for")
  }

  @inlinable @inline(__always)
  package mutating func append(_ byte: UInt8) {
    require(1)
    next.pointee = byte
    next += 1
  }

  @inlinable @inline(__always)
  package mutating func append(_ text: StaticString) {
    require(text.utf8CodeUnitCount)
    next.update(from: text.utf8Start, count: text.utf8CodeUnitCount)
    next += text.utf8CodeUnitCount
  }

  /// Appends a text that is not known before the program runs.
  @inlinable @inline(__always)
  package mutating func append(copyOf text: String) {
    var text = text
    text.withUTF8 { append($0) }
  }

  @inlinable @inline(__always)
  package mutating func append(_ bytes: UnsafeBufferPointer<UInt8>) {
    guard let start = bytes.baseAddress else { return }
    require(bytes.count)
    next.update(from: start, count: bytes.count)
    next += bytes.count
  }

  /// Appends the shortest text of a number as ``NumberText`` does; may touch ``NumberText/room``
  /// bytes.
  ///
  /// - Returns: `false`, and nothing is appended, for NaN and the infinities.
  @inlinable @inline(__always) @discardableResult
  package mutating func append(_ value: Double) -> Bool {
    require(NumberText.room)
    guard let after = NumberText.write(value, at: next) else { return false }
    next = after
    return true
  }

  /// Appends a number rounded to `decimals` decimals as ``NumberText`` does; may touch
  /// ``NumberText/room`` bytes.
  ///
  /// - Returns: `false`, and nothing is appended, for NaN and the infinities.
  @inlinable @inline(__always) @discardableResult
  package mutating func append(_ value: Double, decimals: Int) -> Bool {
    require(NumberText.room)
    guard let after = NumberText.write(value, decimals: decimals, at: next) else { return false }
    next = after
    return true
  }

  /// Appends an integer; may touch ``NumberText/room`` bytes.
  @inlinable @inline(__always)
  package mutating func append(_ value: Int64) {
    require(NumberText.room)
    next = NumberText.write(value, at: next)
  }
}

extension [UInt8] {
  /// Appends what `body` writes, at most `limit` bytes.
  @inlinable @inline(__always)
  package mutating func appendRun(
    upTo limit: Int, _ body: (inout TextRun) -> Void
  ) {
    append(addingCapacity: limit) { output in
      output.withUnsafeMutableBufferPointer { buffer, count in
        guard let start = buffer.baseAddress else { return }
        count = TextRun.write(at: start, upTo: limit, body)
      }
    }
  }
}
