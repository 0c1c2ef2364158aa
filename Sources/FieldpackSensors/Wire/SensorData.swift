package import FieldpackCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The bytes of a capture while they come: up to 1 MiB in memory, more in a file without a name, which a
/// crash does not leave behind.
package final class SensorData: Sendable {
  private struct State {
    var memory: [UInt8] = []
    var descriptor: Int32?
    var count = 0
  }

  private static let mostInMemory = 1 << 20
  private let state = Locked(State())
  private let folder: String?
  private let limit: Int

  /// - Parameters:
  ///   - folder: where the file lies, by default `TMPDIR`, else `/tmp`.
  ///   - limit: more bytes are refused.
  package init(folder: String? = nil, limit: Int = .max) {
    self.folder = folder
    self.limit = limit
  }

  package convenience init(_ bytes: [UInt8]) throws(FieldpackError) {
    self.init()
    try bytes.span.bytes.withUnsafeBytes { (bytes) throws(FieldpackError) in try append(bytes) }
  }

  deinit { if let descriptor = state.withLock({ $0.descriptor }) { close(descriptor) } }

  package var count: Int { state.withLock { $0.count } }

  /// - Throws: `.invalidData` where there are too many bytes, `.full`, `.io`.
  package func append(_ bytes: UnsafeRawBufferPointer) throws(FieldpackError) {
    try state.withLock { (state) throws(FieldpackError) in
      guard bytes.count <= limit - state.count else {
        throw FieldpackError(.invalidData, "the capture is longer than \(limit) bytes")
      }
      state.count += bytes.count
      if state.descriptor == nil, state.count <= Self.mostInMemory {
        return state.memory.append(contentsOf: bytes)
      }
      let descriptor: Int32
      if let open = state.descriptor {
        descriptor = open
      } else {
        descriptor = try UnnamedFile.open(in: folder)
        state.descriptor = descriptor
        try FileSystem.write(state.memory.span.bytes, to: descriptor, path: Self.name)
        state.memory = []
      }
      try FileSystem.write(bytes, to: descriptor, path: Self.name)
    }
  }

  private static let name = "a temporary file"

  /// What a journal takes, as long as this value lives.
  package var content: SensorDownload.Content {
    state.withLock { state in
      state.descriptor.map { .file(path: "/dev/fd/\($0)") } ?? .bytes(state.memory)
    }
  }

  /// The first bytes, at most so many.
  package func prefix(_ most: Int) throws(FieldpackError) -> [UInt8] {
    try state.withLock { (state) throws(FieldpackError) in
      guard let descriptor = state.descriptor else { return Array(state.memory.prefix(most)) }
      var bytes = [UInt8](repeating: 0, count: min(most, state.count))
      let read = bytes.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, $0.count, 0) }
      guard read == bytes.count else { throw .system(errno, "read", Self.name) }
      return bytes
    }
  }

  /// All bytes in memory.
  package func all() throws(FieldpackError) -> [UInt8] { try prefix(.max) }
}
