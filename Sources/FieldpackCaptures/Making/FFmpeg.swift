import FieldpackCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The program `ffmpeg`, which decodes pictures and videos in a process of its own.
public struct FFmpeg: Hashable, Sendable {
  /// `nil` where it is not installed.
  public var program: String?
  /// How long one call may take, in seconds.
  public var timeout: Double

  public init(program: String?, timeout: Double = 60) {
    self.program = program
    self.timeout = timeout
  }

  /// The one of the folders of `PATH`.
  public static var standard: FFmpeg {
    let path = getenv("PATH").map { String(cString: $0) } ?? "/usr/local/bin:/usr/bin:/bin"
    let folders = path.split(separator: ":").filter { $0.hasPrefix("/") }
    return FFmpeg(program: folders.map { "\($0)/ffmpeg" }.first { access($0, X_OK) == 0 })
  }

  /// - Throws: `.unavailable` where it is not installed.
  func installed(else way: String) throws(FieldpackError) -> String {
    if let program { return program }
    throw FieldpackError(
      .unavailable, "ffmpeg is not installed. Try: apt-get install ffmpeg, or \(way)")
  }
}
