import FieldpackCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Media in an open file, looked through before any other program gets to see them.
final class MediaFile: Sendable {
  let descriptor: Int32
  /// What to call it in errors.
  let name: String
  let media: CaptureMedia
  /// Of a picture.
  let structure: JPEGStructure?

  /// - Parameter file: closed with this, and where this throws.
  init(_ file: (descriptor: Int32, size: Int), name: String) throws(FieldpackError) {
    descriptor = file.descriptor
    self.name = name
    do throws(FieldpackError) {
      var media = try CaptureMedia(
        start: try Self.bytes(file.descriptor, min(32, file.size), name), name: name)
      if media.kind == .image {
        guard file.size <= FFmpeg.pictureLimit else {
          throw FieldpackError(
            .unsupported,
            "\(name) has \(file.size) bytes, and pictures of \(FFmpeg.pictureLimit) are read at most",
            position: FilePosition(file: name))
        }
        let structure = try JPEGStructure(
          try Self.bytes(file.descriptor, file.size, name), name: name)
        (media.size, media.turn) = (structure.size, structure.exif?.turn ?? .none)
        self.structure = structure
      } else {
        let header = try MovieHeader(file.descriptor, size: file.size, name: name)
        (media.size, media.turn) = (header.size, header.turn)
        media.duration = header.duration
        structure = nil
      }
      self.media = media
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
