#if Server
  import CMicrohttpd

  /// Bytes of an answer that libmicrohttpd sends from where they are.
  final class LentBytes {
    private let bytes: [UInt8]

    private init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// An answer of libmicrohttpd; `nil` where there is no memory for it.
    static func response(of bytes: [UInt8]) -> OpaquePointer? {
      guard bytes.count < 4 << 10 else { return LentBytes(bytes).response() }
      return bytes.withUnsafeBytes { bytes in
        MHD_create_response_from_buffer(
          bytes.count, UnsafeMutableRawPointer(mutating: bytes.baseAddress), fieldpack_mhd_copy)
      }
    }

    /// The answer, which keeps the bytes: they stay where they are as long as nobody changes the array.
    private func response() -> OpaquePointer? {
      let kept = Unmanaged.passRetained(self)
      let made = bytes.withUnsafeBytes { bytes in
        MHD_create_response_from_buffer_with_free_callback_cls(
          bytes.count, UnsafeMutableRawPointer(mutating: bytes.baseAddress), freeBytes,
          kept.toOpaque())
      }
      if made == nil { kept.release() }
      return made
    }
  }

  private let freeBytes: @convention(c) (UnsafeMutableRawPointer?) -> Void = { bytes in
    guard let bytes else { return }
    Unmanaged<LentBytes>.fromOpaque(bytes).release()
  }
#endif
