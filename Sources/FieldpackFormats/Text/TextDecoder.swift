import FieldpackCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Makes UTF-8 of a text in another encoding, piece by piece, by the system's iconv.
final class TextDecoder {
  let encoding: String
  private let handle: iconv_t
  /// The bytes of a character whose end has not come yet.
  private var rest: [UInt8] = []

  /// `nil` for an encoding that the system does not know.
  init?(_ encoding: String) {
    let opened = iconv_open("UTF-8", encoding)
    guard let opened, opened != iconv_t(bitPattern: -1) else { return nil }
    self.encoding = encoding
    handle = opened
  }

  deinit { iconv_close(handle) }

  /// The text of `bytes`, which follow those before.
  ///
  /// - Parameter isLast: whether nothing follows them.
  /// - Throws: `.invalidData` for bytes that are no text in the encoding.
  func decode(_ bytes: some Sequence<UInt8>, isLast: Bool) throws(FieldpackError) -> [UInt8] {
    var input = rest + bytes
    rest = []
    var output = [UInt8](repeating: 0, count: max(64, input.count * 2))
    var (taken, written) = (0, 0)
    while taken < input.count {
      let failure = convert(&input, &taken, &output, &written)
      switch failure {
      case 0: break
      case E2BIG: output += [UInt8](repeating: 0, count: output.count)
      case EINVAL where !isLast:
        rest = Array(input[taken...])
        taken = input.count
      default:
        throw FieldpackError(.invalidData, "the text is not in \(encoding)", advice: .nameEncoding)
      }
    }
    output.removeSubrange(written...)
    return output
  }

  /// Converts on; returns 0, or the number of the system's error.
  private func convert(
    _ input: inout [UInt8], _ taken: inout Int, _ output: inout [UInt8], _ written: inout Int
  ) -> Int32 {
    input.withUnsafeMutableBytes { source in
      output.withUnsafeMutableBytes { target in
        var from = source.baseAddress?.advanced(by: taken).assumingMemoryBound(to: CChar.self)
        var to = target.baseAddress?.advanced(by: written).assumingMemoryBound(to: CChar.self)
        var (left, room) = (source.count - taken, target.count - written)
        let result = iconv(handle, &from, &left, &to, &room)
        let failure = result == -1 ? errno : 0
        taken = source.count - left
        written = target.count - room
        return failure
      }
    }
  }
}
