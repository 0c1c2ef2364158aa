import CZLIB
package import FieldpackCore

/// Packs bytes as gzip does (RFC 1952) while they come. Not `Sendable`.
package final class GzipPacker {
  private let stream: UnsafeMutablePointer<z_stream>

  /// - Parameter level: from 1, the fastest, to 9, the smallest.
  package init(level: Int = 1) throws(FieldpackError) {
    stream = .allocate(capacity: 1)
    stream.initialize(to: z_stream())
    // 16 more than the largest window writes gzip's header and checksum.
    let code = deflateInit2_(
      stream, Int32(level), Z_DEFLATED, MAX_WBITS + 16, MAX_MEM_LEVEL - 1, Z_DEFAULT_STRATEGY,
      ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
    guard code == Z_OK else { throw FieldpackError(.io, "out of memory for packing") }
  }

  deinit {
    deflateEnd(stream)
    stream.deallocate()
  }

  /// The packed bytes that are ready; zlib keeps some of them until more bytes come.
  package func pack(_ bytes: [UInt8]) -> [UInt8] { run(bytes, Z_NO_FLUSH) }

  /// The rest of the packed bytes; nothing can be packed afterwards.
  package func finish(_ bytes: [UInt8] = []) -> [UInt8] { run(bytes, Z_FINISH) }

  private func run(_ bytes: [UInt8], _ flush: Int32) -> [UInt8] {
    var packed: [UInt8] = []
    bytes.withUnsafeBufferPointer { input in
      stream.pointee.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
      stream.pointee.avail_in = UInt32(input.count)
      repeat {
        let room = max(4_096, Int(stream.pointee.avail_in) / 4)
        packed += [UInt8](unsafeUninitializedCapacity: room) { buffer, count in
          stream.pointee.next_out = buffer.baseAddress
          stream.pointee.avail_out = UInt32(room)
          deflate(stream, flush)
          count = room - Int(stream.pointee.avail_out)
        }
      } while stream.pointee.avail_out == 0
    }
    return packed
  }

  /// All of the bytes as one member.
  package static func packed(
    _ bytes: [UInt8], level: Int = 1
  ) throws(FieldpackError) -> [UInt8] {
    try GzipPacker(level: level).finish(bytes)
  }
}
