package import FieldpackCore

extension FFmpeg {
  /// One picture of a camera of this machine, as a PNG.
  ///
  /// - Parameter device: its path, such as `/dev/video0`.
  /// - Throws: `.unavailable` without ffmpeg or camera, `.interrupted`.
  package func picture(ofCamera device: String) async throws(FieldpackError) -> [UInt8] {
    var child = try child(
      of: device, ["-frames:v", "1", "-c:v", "png", "-f", "image2pipe", "pipe:1"])
    child.limits.time = min(timeout, 86_400)
    child.limits.output = 64 << 20
    let result = try await child.run()
    guard result.end == .exited(0), MediaType(result.output) == .png else {
      throw FieldpackError(.unavailable, "the camera \(device) gives no picture")
    }
    return result.output
  }

  /// What the parts of ``watch(camera:take:)`` have between them.
  package static let boundary = "fieldpack"

  /// What a camera of this machine sees: ten JPEGs a second of at most 1280 pixels, until the task is
  /// cancelled.
  ///
  /// - Parameter take: gets `multipart/x-mixed-replace` as its bytes come; false ends it.
  /// - Throws: as ``picture(ofCamera:)``.
  package func watch(
    camera device: String, take: @escaping @Sendable ([UInt8]) -> Bool
  ) async throws(FieldpackError) {
    var child = try child(
      of: device,
      [
        "-vf", "fps=10,scale='min(1280,iw)':-2", "-c:v", "mjpeg", "-q:v", "5", "-f", "mpjpeg",
        "-boundary_tag", Self.boundary, "pipe:1",
      ])
    child.limits.time = 86_400
    child.limits.cpuSeconds = 86_400
    child.take = take
    let result = try await child.run()
    guard result.end != .wroteTooMuch else { return }
    throw FieldpackError(.unavailable, "the camera \(device) gives no more pictures")
  }

  private func child(
    of device: String, _ output: [String]
  ) throws(FieldpackError) -> ChildProcess {
    guard let program else {
      throw FieldpackError(
        .unavailable, "ffmpeg is not installed, which takes pictures with a camera")
    }
    #if os(macOS)
      let format = "avfoundation"
    #else
      let format = "v4l2"
    #endif
    return ChildProcess(
      program: program,
      arguments: ["-nostdin", "-hide_banner", "-v", "error", "-f", format, "-i", device] + output)
  }
}
