import FieldpackCore

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
    let path = getenv("PATH").map { String(cString: $0) } ?? "/usr/local/bin:/usr/bin:/bin"
    let folders = path.split(separator: ":").filter { $0.hasPrefix("/") }
    return FFmpeg(program: folders.map { "\($0)/ffmpeg" }.first { access($0, X_OK) == 0 })
  }

  /// - Throws: `.unavailable` where it is not installed.
  func installed(else other: FieldpackError.Advice) throws(FieldpackError) -> String {
    if let program { return program }
    throw FieldpackError(
      .unavailable, "ffmpeg is not installed", advice: .installFFmpeg(or: other))
  }

  /// The longer side of a thumbnail at most, in pixels.
  static let thumbnailSide = 300
  /// The longest JPEG that is made or read, in bytes.
  static let pictureLimit = 256 << 20

  /// A PNG of the picture, or of the first frame of the video, upright and never enlarged.
  ///
  /// - Throws: `.unavailable`, `.invalidData` for what cannot be decoded, `.interrupted`.
  func thumbnail(of file: MediaFile) async throws(FieldpackError) -> [UInt8] {
    let program = try installed(else: .omitThumbnail)
    let size = file.media.size.fitting(Self.thumbnailSide)
    // Scaled first: few pixels are turned, and in colours that are not shared between pixels.
    let filters = ["scale=\(size.width):\(size.height):flags=\(Self.scaling)", "format=rgb24"]
    let output = ["-c:v", "png", "-f", "image2pipe", "pipe:1"]
    let bytes = try await run(
      program, on: file, filters: filters + file.media.turn.filters, output, limit: 1 << 20,
      else: .omitThumbnail)
    let shown = file.media.turn.swapsSides ? size.swapped : size
    return try PNGFile.bare(bytes, shown, of: file.name)
  }

  private static let scaling = "area+accurate_rnd+full_chroma_int+full_chroma_inp"

  /// A JPEG of the picture that stands upright, with its EXIF and its colour profile.
  ///
  /// Encoded with the finest steps there are, and with the colours of each pixel of its own unless
  /// they were kept for four pixels together.
  /// - Throws: `.unavailable`, `.invalidData` for what cannot be decoded, `.unsupported` for the
  ///   colours of printing, `.interrupted`.
  func upright(
    _ file: MediaFile, _ structure: JPEGStructure
  ) async throws(FieldpackError) -> [UInt8] {
    let program = try installed(else: .keepBytes)
    guard structure.componentCount <= 3 else {
      throw FieldpackError(
        .unsupported,
        "\(file.name) has the colours of printing and cannot be made upright", advice: .keepBytes,
        position: FilePosition(file: file.name))
    }
    let isEven = structure.size.width % 2 == 0 && structure.size.height % 2 == 0
    let format = structure.hasHalfColors && isEven ? "yuvj420p" : "yuvj444p"
    let filters = ["scale=flags=\(Self.scaling)", "format=\(format)"] + file.media.turn.filters
    let output = [
      "-c:v", "mjpeg", "-q:v", "1", "-qmin", "1", "-huffman", "optimal", "-pix_fmt", format,
      "-f", "image2pipe", "pipe:1",
    ]
    let bytes = try await run(
      program, on: file, filters: filters, output, limit: Self.pictureLimit, else: .keepBytes)
    let dressed = try structure.dressed(bytes)
    let upright = file.media.turn.swapsSides ? structure.size.swapped : structure.size
    guard (try? JPEGStructure(dressed, name: file.name))?.size == upright else {
      throw Self.notWhole(file.name, .keepBytes)
    }
    return dressed
  }

  /// - Parameter advice: what does without.
  static func notWhole(_ name: String, _ advice: FieldpackError.Advice) -> FieldpackError {
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
      file.media.kind == .image
      ? ["-f", "jpeg_pipe", "-c:v", "mjpeg"]
      : ["-f", "mov", "-enable_drefs", "0", "-use_absolute_path", "0"]
    var arguments = [
      "-nostdin", "-hide_banner", "-v", "error", "-threads", "1", "-noautorotate",
      "-protocol_whitelist", "file", "-codec_whitelist", Self.decoders, "-max_pixels",
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
