package import FieldpackCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The program `ffmpeg`, which decodes pictures and videos in a process of its own, with limits.
public struct FFmpeg: Hashable, Sendable {
  /// `nil` where it is not installed.
  public var program: String?
  /// How long one call may take, in seconds.
  public var timeout: Double

  public init(program: String?, timeout: Double = 60) {
    self.program = program
    self.timeout = timeout
  }

  /// The `ffmpeg` that is found in the folders of `PATH`.
  public static var standard: FFmpeg {
    let path = Environment.value("PATH") ?? "/usr/local/bin:/usr/bin:/bin"
    let folders = path.split(separator: ":").filter { $0.hasPrefix("/") }
    return FFmpeg(program: folders.map { "\($0)/ffmpeg" }.first { access($0, X_OK) == 0 })
  }

  /// - Parameter advice: what does without it.
  /// - Throws: `.unavailable` where it is not installed.
  @discardableResult
  package func installed(else advice: FieldpackError.Advice) throws(FieldpackError) -> String {
    if let program { return program }
    throw FieldpackError(
      .unavailable, "ffmpeg is not installed", advice: .installFFmpeg(or: advice))
  }

  /// The longest JPEG that is made or read, in bytes.
  static let pictureLimit = 256 << 20

  /// A PNG of the picture, or of the first frame of the film, upright and never enlarged.
  ///
  /// - Parameters:
  ///   - side: the longer side at most, in pixels.
  ///   - radius: of the corners, in pixels: what is outside of them is clear. Without one the PNG has
  ///     no transparency.
  ///   - advice: what does without.
  /// - Throws: `.unavailable`, `.invalidData` for what cannot be decoded, `.interrupted`.
  package func thumbnail(
    of file: MediaFile, side: Int, cornerRadius radius: Int = 0, else advice: FieldpackError.Advice
  ) async throws(FieldpackError) -> [UInt8] {
    let program = try installed(else: advice)
    let size = file.header.size.fitting(side)
    let shown = file.header.turn.swapsSides ? size.swapped : size
    // Scaled first: few pixels are turned, and in colours that are not shared between pixels.
    var filters = ["scale=\(size.width):\(size.height):flags=\(Self.scaling)", "format=rgb24"]
    filters += file.header.turn.filters + Self.corners(radius, of: shown)
    let output = ["-c:v", "png", "-f", "image2pipe", "pipe:1"]
    // Each pixel has 4 bytes at most before it is packed.
    let limit = (1 << 20) + 4 * shown.width * shown.height
    let bytes = try await run(
      program, on: file, filters: filters, output, limit: limit, else: advice)
    guard let thumbnail = PNGFile.bare(bytes, shown) else {
      throw Self.notWhole(file.name, advice)
    }
    return thumbnail
  }

  private static let scaling = "area+accurate_rnd+full_chroma_int+full_chroma_inp"

  /// A pixel at the edge of a corner's circle is as clear as much of it lies outside.
  private static func corners(_ radius: Int, of size: PictureSize) -> [String] {
    let radius = min(radius, size.width / 2, size.height / 2)
    guard radius > 0 else { return [] }
    // From the middle of a pixel to the square that the circles' centres make.
    let across = "max(0,max(\(radius)-X-0.5,X+0.5-\(size.width - radius)))"
    let down = "max(0,max(\(radius)-Y-0.5,Y+0.5-\(size.height - radius)))"
    let alpha = "255*clip(\(radius)+0.5-hypot(\(across),\(down)),0,1)"
    return ["format=rgba", "geq=r='r(X,Y)':g='g(X,Y)':b='b(X,Y)':a='\(alpha)'"]
  }

  /// A JPEG of the picture that stands upright, with its EXIF and its colour profile.
  ///
  /// Encoded with the finest steps there are, and with the colours of each pixel of its own unless
  /// they were kept for four pixels together.
  /// - Parameter advice: what does without.
  /// - Throws: `.unavailable`, `.invalidData` for what cannot be decoded, `.unsupported` for the
  ///   colours of printing, `.interrupted`.
  package func upright(
    _ file: MediaFile, _ structure: JPEGStructure, else advice: FieldpackError.Advice
  ) async throws(FieldpackError) -> [UInt8] {
    let program = try installed(else: advice)
    guard structure.componentCount <= 3 else {
      throw FieldpackError(
        .unsupported,
        "\(file.name) has the colours of printing and cannot be made upright", advice: advice,
        position: FilePosition(file: file.name))
    }
    let isEven = structure.size.width % 2 == 0 && structure.size.height % 2 == 0
    let format = structure.hasHalfColors && isEven ? "yuvj420p" : "yuvj444p"
    let filters = ["scale=flags=\(Self.scaling)", "format=\(format)"] + file.header.turn.filters
    let output = [
      "-c:v", "mjpeg", "-q:v", "1", "-qmin", "1", "-huffman", "optimal", "-pix_fmt", format,
      "-f", "image2pipe", "pipe:1",
    ]
    let bytes = try await run(
      program, on: file, filters: filters, output, limit: Self.pictureLimit, else: advice)
    guard let dressed = structure.dressed(bytes),
      (try? JPEGStructure(dressed, name: file.name))?.size == file.header.uprightSize
    else { throw Self.notWhole(file.name, advice) }
    return dressed
  }

  private static func notWhole(
    _ name: String, _ advice: FieldpackError.Advice
  ) -> FieldpackError {
    FieldpackError(
      .invalidData, "ffmpeg gave no picture of \(name) that is whole", advice: advice,
      position: FilePosition(file: name))
  }

  // MARK: Running

  /// The decoders that videos may ask for.
  private static let decoders =
    "mjpeg,h264,hevc,mpeg4,h263,prores,dvvideo,vp9,libdav1d,libaom-av1,av1"

  private func run(
    _ program: String, on file: MediaFile, filters: [String], _ output: [String], limit: Int,
    else advice: FieldpackError.Advice
  ) async throws(FieldpackError) -> [UInt8] {
    let demuxer =
      file.header.isPicture
      ? ["-f", "jpeg_pipe", "-c:v", "mjpeg"]
      : ["-f", "mov", "-enable_drefs", "0", "-use_absolute_path", "0"]
    return try await run(
      program, on: (file.descriptor, file.name), demuxer: demuxer, decoders: Self.decoders,
      filters: filters, output, limit: limit, else: advice)
  }

  func run(
    _ program: String, on file: (descriptor: Int32, name: String), demuxer: [String],
    decoders: String, filters: [String], _ output: [String], limit: Int,
    else advice: FieldpackError.Advice
  ) async throws(FieldpackError) -> [UInt8] {
    var arguments = [
      "-nostdin", "-hide_banner", "-v", "error", "-threads", "1", "-noautorotate",
      "-protocol_whitelist", "file", "-codec_whitelist", decoders, "-max_pixels",
      "\(PictureSize.limit)",
    ]
    // By its number: a name could be taken for an option, a pattern or an address.
    arguments += demuxer + ["-i", "file:/dev/fd/3", "-map", "0:V:0", "-frames:v", "1"]
    arguments += ["-map_metadata", "-1", "-threads", "1", "-filter_threads", "1"]
    arguments += ["-vf", filters.joined(separator: ",")] + output
    var child = ChildProcess(program: program, arguments: arguments)
    // No number, and more than a day, are no time.
    child.limits.cpuSeconds = timeout >= 1 ? Int(min(timeout, 86_400).rounded(.up)) : 1
    child.limits.time = timeout
    child.limits.output = limit
    child.input = file.descriptor
    let result = try await child.run()
    if result.end == .exited(0), !result.output.isEmpty { return result.output }
    throw FieldpackError(
      result.end == .tookTooLong ? .unavailable : .invalidData,
      failure(result, on: file.name), advice: advice, position: FilePosition(file: file.name))
  }

  private func failure(_ result: ChildProcess.Result, on name: String) -> String {
    switch result.end {
    case .tookTooLong: return "ffmpeg was not done with \(name) within \(timeout) s"
    case .wroteTooMuch: return "ffmpeg made more of \(name) than there can be"
    case .signalled(let signal):
      return "ffmpeg was ended by signal \(signal) when it decoded \(name)"
    case .exited:
      let reason = Self.reason(result.errors).map { ": \($0)" } ?? ""
      return "\(name) cannot be decoded\(reason)"
    }
  }

  /// The first line that it said, without the part of the program that said it.
  private static func reason(_ errors: String) -> String? {
    guard let line = errors.split(whereSeparator: \.isNewline).first else { return nil }
    let text = line.hasPrefix("[") ? line.drop { $0 != "]" }.dropFirst() : line
    let visible = text.unicodeScalars.filter { $0.value >= 32 && $0.value != 127 }
    let words = String(String.UnicodeScalarView(visible)).drop { $0 == " " }
    return words.isEmpty ? nil : String(words.prefix(160))
  }
}
