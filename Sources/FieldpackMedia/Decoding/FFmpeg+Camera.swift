package import FieldpackCore

extension FFmpeg {
  /// One picture of a camera of this machine, as a PNG.
  ///
  /// - Parameter device: its path, such as `/dev/video0`.
  /// - Throws: `.unavailable` without ffmpeg or camera, `.interrupted`.
  package func picture(ofCamera device: String) async throws(FieldpackError) -> [UInt8] {
    guard let program else {
      throw FieldpackError(
        .unavailable, "ffmpeg is not installed, which takes pictures with a camera")
    }
    #if os(macOS)
      let format = "avfoundation"
    #else
      let format = "v4l2"
    #endif
    var child = ChildProcess(
      program: program,
      arguments: [
        "-nostdin", "-hide_banner", "-v", "error", "-f", format, "-i", device, "-frames:v", "1",
        "-c:v", "png", "-f", "image2pipe", "pipe:1",
      ])
    child.limits.time = min(timeout, 86_400)
    child.limits.output = 64 << 20
    let result = try await child.run()
    guard result.end == .exited(0), MediaType(result.output) == .png else {
      throw FieldpackError(.unavailable, "the camera \(device) gives no picture")
    }
    return result.output
  }
}
