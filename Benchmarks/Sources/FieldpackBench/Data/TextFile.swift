import Fieldpack
import Foundation

/// A text file that is written front to back.
final class TextFile {
  private let handle: FileHandle
  private var buffer: [UInt8] = []

  init(_ path: String) throws {
    guard FileManager.default.createFile(atPath: path, contents: nil),
      let handle = FileHandle(forWritingAtPath: path)
    else { throw CocoaError(.fileWriteUnknown) }
    self.handle = handle
    buffer.reserveCapacity(1 << 21)
  }

  func write(_ text: String) throws {
    buffer.append(contentsOf: text.utf8)
    if buffer.count > 1 << 20 { try flush() }
  }

  /// Appends `value` with exactly `decimals` decimals.
  func write(_ value: Double, decimals: Int) {
    let start = buffer.count
    NumberText.append(value, decimals: decimals, to: &buffer)
    var places = 0
    if let point = buffer[start...].firstIndex(of: UInt8(ascii: ".")) {
      places = buffer.count - point - 1
    } else {
      buffer.append(UInt8(ascii: "."))
    }
    for _ in places..<decimals { buffer.append(UInt8(ascii: "0")) }
  }

  func close() throws {
    try flush()
    try handle.close()
  }

  private func flush() throws {
    try handle.write(contentsOf: buffer)
    buffer.removeAll(keepingCapacity: true)
  }
}

let words = [
  "alder", "birch", "cedar", "dogwood", "elm", "fir", "ginkgo", "hazel", "ivy", "juniper", "kauri",
  "larch", "maple", "nutmeg", "oak", "pine", "quince", "rowan", "spruce", "tulip", "umbrella",
  "viburnum", "willow", "yew",
]

/// `seconds` after the start of 2024 as `yyyy-MM-ddTHH:mm:ssZ`.
func time(_ seconds: Int) -> String {
  let text = Instant(milliseconds: (1_704_067_200 + Int64(seconds)) * 1000).description
  return "\(text.prefix(19))Z"
}
