package import FieldpackCore
package import FieldpackField
package import FieldpackMedia

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A camera of this machine, or a file in place of one, which is asked as a sensor on the network is.
///
/// `cam:///dev/video0` is a camera, for which ffmpeg is needed. `cam:///home/me/face.jpg` gives the
/// picture as it is each time, and a film gives its first frame.
package actor CameraSensor: BiometricSensor {
  package nonisolated let path: String
  private nonisolated let ffmpeg: FFmpeg
  private nonisolated let clock: FieldClock
  private var session: String?
  private var captures: [(id: String, bytes: [UInt8])] = []
  /// So many captures wait to be downloaded.
  private static let capacity = 8
  private static let longestFile = 256 << 20
  private static let scheme = "cam://"

  /// - Returns: `nil` where the address has another scheme.
  /// - Throws: `.invalidArgument` for an address without a path.
  package init?(
    _ uri: String, ffmpeg: FFmpeg = .standard, clock: FieldClock = .system
  ) throws(FieldpackError) {
    guard uri.lowercased().hasPrefix(Self.scheme) else { return nil }
    let path = String(uri.dropFirst(Self.scheme.count))
    guard path.hasPrefix("/"), !path.contains("\0") else {
      throw FieldpackError(
        .invalidArgument, "the address of a camera has a path. Try: cam:///dev/video0")
    }
    self.path = path
    self.ffmpeg = ffmpeg
    self.clock = clock
  }

  package func perform(_ request: SensorRequest) async throws(FieldpackError) -> SensorAnswer {
    SensorAnswer(try await result(request))
  }

  private func result(_ request: SensorRequest) async throws(FieldpackError) -> SensorResult {
    switch request.operation {
    case .register:
      let id = RandomID.make().lowercased()
      session = id
      return SensorResult(.success, sessionId: id)
    case .unregister:
      if request.sessionId == session { session = nil }
      return SensorResult(.success)
    case .getCommonInfo, .getDetailedInfo: return SensorResult(.success, metadata: Self.information)
    case .getStatus: return SensorResult(.success, metadata: ["sensorStatus": .string("ready")])
    case .download, .thriftyDownload, .getContentType, .rawDownload:
      return download(request)
    default: break
    }
    guard request.sessionId == session, session != nil else { return SensorResult(.invalidId) }
    switch request.operation {
    case .lock, .stealLock, .unlock, .configure, .cancel, .uninitialize:
      return SensorResult(.success)
    case .initialize:
      return SensorResult(access(path, R_OK) == 0 ? .success : .sensorFailure)
    case .getConfiguration: return SensorResult(.success, metadata: [:])
    case .capture:
      let id = RandomID.make().lowercased()
      let bytes = try await picture()
      if captures.count == Self.capacity { captures.removeFirst() }
      captures.append((id, bytes))
      return SensorResult(.success, captureIds: [id])
    default: return SensorResult(.unsupported)
    }
  }

  private static let information: SensorDictionary = [
    "modality": .parameter(
      SensorParameter(
        "modality", type: "string", isReadOnly: true, defaultValue: .string("Face"))),
    "submodality": .parameter(
      SensorParameter(
        "submodality", type: "string", isReadOnly: true, defaultValue: .string("Face2d"))),
  ]

  private func download(_ request: SensorRequest) -> SensorResult {
    guard let found = captures.first(where: { $0.id == request.captureId }) else {
      return SensorResult(.invalidId)
    }
    // What a thrifty download would save stays on this machine anyway.
    let type = MediaType(Array(found.bytes.prefix(MediaType.length)))?.rawValue
    return SensorResult(
      .success, metadata: ["contentType": .string(type ?? MediaType.unknown)],
      data: request.operation == .getContentType ? nil : SpooledBytes(found.bytes))
  }

  // MARK: Pictures

  /// What the camera sees, by ffmpeg; of a file its picture, once a second.
  ///
  /// - Parameter limit: a frame of more bytes ends the preview.
  nonisolated func preview(limit: Int) -> SensorPreview {
    SensorPreview { [self] (show) throws(FieldpackError) in
      guard try isDevice() else {
        while !Task.isCancelled {
          let bytes = try await picture()
          guard bytes.count <= limit else {
            throw FieldpackError(.invalidData, "the picture of the camera is too long")
          }
          show(PreviewFrame(bytes: bytes))
          try? await clock.sleep(for: .seconds(1))
        }
        return
      }
      let type = "multipart/x-mixed-replace;boundary=\(FFmpeg.boundary)"
      let reader = Locked(try PreviewReader(contentType: type, limit: limit))
      try await ffmpeg.watch(camera: path) { bytes in
        guard let frames = try? reader.withLock({ try $0.push(bytes) }) else { return false }
        if let last = frames.last { show(last) }
        return true
      }
    }
  }

  private nonisolated func isDevice() throws(FieldpackError) -> Bool {
    var status = stat()
    guard stat(path, &status) == 0 else { throw .system(errno, "open", path) }
    return path.hasPrefix("/dev/") && status.st_mode & S_IFMT == S_IFCHR
  }

  private nonisolated func picture() async throws(FieldpackError) -> [UInt8] {
    if try isDevice() { return try await ffmpeg.picture(ofCamera: path) }
    // Without waiting: what is a file now may be a pipe that nobody writes to.
    var status = stat()
    let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else { throw .system(errno, "open", path) }
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
      status.st_size <= Self.longestFile
    else {
      close(descriptor)
      throw FieldpackError(.invalidData, "\(path) is no file that can stand for a camera")
    }
    let size = Int(status.st_size)
    var start = [UInt8](repeating: 0, count: min(size, MediaType.length))
    let count = start.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, $0.count, 0) }
    guard count == start.count, let type = MediaType(start) else {
      close(descriptor)
      throw FieldpackError(.invalidData, "\(path) is neither a picture nor a film")
    }
    guard type.rawValue.hasPrefix("video/") else {
      defer { close(descriptor) }
      var bytes = [UInt8](repeating: 0, count: size)
      let read = bytes.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, $0.count, 0) }
      guard read == size else { throw .system(errno, "read", path) }
      return bytes
    }
    let film = try MediaFile((descriptor, size), name: path, for: "a camera")
    return try await ffmpeg.thumbnail(of: film, side: 4096, else: .keepBytes)
  }
}

/// Which cameras and files of this machine may be sensors, by their paths.
package enum CameraAccess: Hashable, Sendable {
  case all
  case only(Set<String>)

  func allows(_ path: String) -> Bool {
    if case .only(let paths) = self { paths.contains(path) } else { true }
  }
}
