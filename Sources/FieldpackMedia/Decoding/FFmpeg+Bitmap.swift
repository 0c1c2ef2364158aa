package import FieldpackCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

extension FFmpeg {
  /// The pixels of a JPEG or WebP as it is stored, not turned.
  ///
  /// - Parameters:
  ///   - name: what to call the picture in errors.
  ///   - limit: how many pixels are decoded at most.
  ///   - advice: what does without ffmpeg.
  /// - Throws: `.unavailable`, `.invalidData` for what cannot be decoded, `.unsupported` for other
  ///   types and too many pixels, `.interrupted`.
  package func bitmap(
    of picture: [UInt8], name: String, limit: Int, else advice: FieldpackError.Advice
  ) async throws(FieldpackError) -> Bitmap {
    let position = FilePosition(file: name)
    let type = MediaType(picture)
    guard type == .jpeg || type == .webp else {
      throw FieldpackError(
        .unsupported, "\(name) is \(type?.name ?? "no picture"), which is not decoded",
        position: position)
    }
    guard let size = PictureSize(of: picture), size.width > 0, size.height > 0 else {
      throw FieldpackError(.invalidData, "\(name) does not tell its size", position: position)
    }
    guard size.width <= limit / size.height else {
      throw FieldpackError(
        .unsupported,
        "\(name) says it is \(size.width) x \(size.height) pixels large; \(limit) pixels are "
          + "decoded at most", position: position)
    }
    let program = try installed(else: advice)
    let descriptor = try UnnamedFile.open()
    defer { close(descriptor) }
    try FileSystem.write(picture.span.bytes, to: descriptor, path: name)
    lseek(descriptor, 0, SEEK_SET)
    let coder = type == .jpeg ? "mjpeg" : "webp"
    let demuxer = type == .jpeg ? "jpeg_pipe" : "webp_pipe"
    let count = 4 * size.width * size.height
    let bytes = try await run(
      program, on: (descriptor, name), demuxer: ["-f", demuxer, "-c:v", coder], decoders: coder,
      filters: ["scale=flags=accurate_rnd+full_chroma_int+full_chroma_inp", "format=rgba"],
      ["-c:v", "rawvideo", "-f", "rawvideo", "pipe:1"], limit: count, else: advice)
    guard bytes.count == count else {
      throw FieldpackError(
        .invalidData, "ffmpeg gave no picture of \(name) that is whole", position: position)
    }
    return Bitmap(size, bytes: bytes)
  }
}
