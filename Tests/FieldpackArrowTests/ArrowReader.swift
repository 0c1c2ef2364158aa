import CArrow
import FieldpackTestSupport
import Foundation

/// Reads a stream by its callbacks alone.
struct ArrowReader {
  struct Failure: Error {
    var code: Int32
    var message: String
  }

  private let stream: UnsafeMutablePointer<ArrowArrayStream>

  init(_ fill: (UnsafeMutablePointer<ArrowArrayStream>) -> Void) {
    stream = .allocate(capacity: 1)
    stream.initialize(to: ArrowArrayStream())
    fill(stream)
  }

  mutating func release() {
    stream.pointee.release(stream)
    stream.deallocate()
  }

  func release(_ batch: UnsafeMutablePointer<ArrowArray>) {
    batch.pointee.release(batch)
    batch.deallocate()
  }

  /// Each column as `name format`, `?` where it may be null, and its metadata.
  mutating func schema() throws -> [String] {
    var schema = ArrowSchema()
    let code = stream.pointee.get_schema(stream, &schema)
    if code != 0 { throw failure(code) }
    defer { schema.release(&schema) }
    guard String(cString: schema.format) == "+s" else { throw failure(0) }
    return (0..<Int(schema.n_children)).map { index in
      let child = schema.children[index]!.pointee
      var text = String(cString: child.name) + " " + String(cString: child.format)
      if child.flags & Int64(ARROW_FLAG_NULLABLE) != 0 { text += " ?" }
      for (key, value) in Self.metadata(child.metadata) { text += " \(key)=\(value)" }
      return text
    }
  }

  private static func metadata(_ start: UnsafePointer<CChar>?) -> [(String, String)] {
    guard var pointer = start.map({ UnsafeRawPointer($0) }) else { return [] }
    func number() -> Int {
      defer { pointer += 4 }
      return Int(pointer.loadUnaligned(as: Int32.self))
    }
    func text() -> String {
      let count = number()
      defer { pointer += count }
      return String(decoding: UnsafeRawBufferPointer(start: pointer, count: count), as: UTF8.self)
    }
    return (0..<number()).map { _ in (text(), text()) }
  }

  /// The next batch, which the caller releases; `nil` at the end.
  mutating func next() throws -> UnsafeMutablePointer<ArrowArray>? {
    let batch = UnsafeMutablePointer<ArrowArray>.allocate(capacity: 1)
    batch.initialize(to: ArrowArray())
    let code = stream.pointee.get_next(stream, batch)
    if code == 0, batch.pointee.release != nil { return batch }
    batch.deallocate()
    if code != 0 { throw failure(code) }
    return nil
  }

  private func failure(_ code: Int32) -> Failure {
    let message = stream.pointee.get_last_error(stream)
    return Failure(code: code, message: message.map { String(cString: $0) } ?? "")
  }

  /// All rows, each as values between `|`: bytes in hexadecimal, `-` for null.
  mutating func rows() throws -> [String] {
    var schema = ArrowSchema()
    guard stream.pointee.get_schema(stream, &schema) == 0 else { throw failure(-1) }
    defer { schema.release(&schema) }
    let formats = (0..<Int(schema.n_children)).map {
      String(cString: schema.children[$0]!.pointee.format)
    }
    var rows: [String] = []
    while let batch = try next() {
      for row in 0..<Int(batch.pointee.length) {
        let values = formats.enumerated().map { index, format in
          Self.value(batch.pointee.children[index]!.pointee, row, format)
        }
        rows.append(values.joined(separator: "|"))
      }
      release(batch)
    }
    return rows
  }

  private static func value(_ array: ArrowArray, _ row: Int, _ format: String) -> String {
    if let validity = array.buffers[0]?.assumingMemoryBound(to: UInt8.self),
      validity[row >> 3] >> UInt8(row & 7) & 1 == 0
    {
      return "-"
    }
    let values = array.buffers[1]!
    switch format {
    case "l", "tsm:UTC": return "\(values.assumingMemoryBound(to: Int64.self)[row])"
    case "g": return "\(values.assumingMemoryBound(to: Double.self)[row])"
    case "tdD": return "\(values.assumingMemoryBound(to: Int32.self)[row])"
    case "b":
      let byte = values.assumingMemoryBound(to: UInt8.self)[row >> 3]
      return byte >> UInt8(row & 7) & 1 == 1 ? "true" : "false"
    default:
      let ends = values.assumingMemoryBound(to: Int32.self)
      let bytes = UnsafeRawBufferPointer(
        start: array.buffers[2].map { $0 + Int(ends[row]) }, count: Int(ends[row + 1] - ends[row]))
      if format == "u" { return String(decoding: bytes, as: UTF8.self) }
      return bytes.hex
    }
  }
}
