/// Bytes that come one piece after the other: up to 1 MiB are kept in memory, more in an unnamed file.
package final class SpooledBytes: Sendable {
  private struct State {
    var memory: [UInt8]
    let file: SpillFile
  }

  private static let mostInMemory = 1 << 20
  private let state: Locked<State>

  /// - Parameter folder: where the file lies, by default `TMPDIR`, else `/tmp`.
  package init(_ bytes: [UInt8] = [], folder: String? = nil) {
    state = Locked(State(memory: bytes, file: SpillFile(folder: folder)))
  }

  package var count: Int { state.withLock { max($0.memory.count, $0.file.end) } }

  /// - Throws: `.full` where there is no room, `.io`.
  package func append(_ bytes: UnsafeRawBufferPointer) throws(FieldpackError) {
    try state.withLock { (state) throws(FieldpackError) in
      if state.file.end == 0 {
        guard state.memory.count + bytes.count > Self.mostInMemory else {
          return state.memory.append(contentsOf: bytes)
        }
        let memory = state.memory
        state.memory = []
        if !memory.isEmpty {
          try memory.span.bytes.withUnsafeBytes { (bytes) throws(FieldpackError) in
            try state.file.append(bytes)
          }
        }
      }
      try state.file.append(bytes)
    }
  }

  /// Lends all bytes. Meanwhile nobody else gets them.
  package func withBytes<R>(
    _ body: (UnsafeRawBufferPointer) throws(FieldpackError) -> R
  ) throws(FieldpackError) -> R {
    try state.withLock { (state) throws(FieldpackError) in
      guard state.file.end == 0 else { return try state.file.withBytes(body) }
      return try state.memory.span.bytes.withUnsafeBytes(body)
    }
  }

  /// The first bytes, at most so many.
  package func prefix(_ count: Int) throws(FieldpackError) -> [UInt8] {
    try withBytes { Array($0.prefix(count)) }
  }

  /// The SHA-256 digest as 64 hexadecimal digits in lower case.
  package func sha256() throws(FieldpackError) -> String {
    try withBytes { bytes in
      var digest = SHA256()
      digest.update(bytes)
      return String(hex: digest.digest())
    }
  }
}
