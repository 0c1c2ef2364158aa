package import FieldpackCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Media in an open file, looked through before any other program gets to see them.
package final class MediaFile: Sendable {
  let descriptor: Int32
  /// What to call it in errors.
  let name: String
  package let header: MediaHeader
  /// Of a picture.
  package let structure: JPEGStructure?

  /// - Parameters:
  ///   - file: closed with this, and where this throws.
  ///   - name: what to call it in errors.
  ///   - holder: what is to hold it, for errors, such as `a capture`.
  /// - Throws: what ``MediaHeader`` does; `.invalidData` for what is cut short.
  package init(
    _ file: (descriptor: Int32, size: Int), name: String, for holder: String
  ) throws(FieldpackError) {
    descriptor = file.descriptor
    self.name = name
    do throws(FieldpackError) {
      var header = try MediaHeader(
        start: try Self.bytes(file.descriptor, min(MediaType.length, file.size), name), name: name,
        for: holder)
      if header.isPicture {
        guard file.size <= FFmpeg.pictureLimit else {
          throw FieldpackError(
            .unsupported,
            "\(name) has \(file.size) bytes, and pictures of \(FFmpeg.pictureLimit) are read at most",
            position: FilePosition(file: name))
        }
        let structure = try JPEGStructure(
          try Self.bytes(file.descriptor, file.size, name), name: name)
        (header.size, header.turn) = (structure.size, structure.exif?.turn ?? .none)
        self.structure = structure
      } else {
        let movie = try MovieHeader(file.descriptor, size: file.size, name: name)
        (header.size, header.turn) = (movie.size, movie.turn)
        header.duration = movie.duration
        structure = nil
      }
      self.header = header
    } catch {
      close(file.descriptor)
      throw error
    }
  }

  deinit { close(descriptor) }

  private static func bytes(
    _ descriptor: Int32, _ count: Int, _ name: String
  ) throws(FieldpackError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    var got = 0
    while got < count {
      let more = bytes.withUnsafeMutableBytes { all in
        pread(descriptor, all.baseAddress?.advanced(by: got), count - got, off_t(got))
      }
      if more < 0, errno == EINTR { continue }
      guard more > 0 else { throw .system(more < 0 ? errno : EIO, "read", name) }
      got += more
    }
    return bytes
  }
}
