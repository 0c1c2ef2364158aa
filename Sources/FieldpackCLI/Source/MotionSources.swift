import Fieldpack
import FieldpackCore
import FieldpackFormats

/// What is posted as one device.
struct PostedMotion {
  var source: any MotionSource
  var device: MotionDevice
  /// Samples a second.
  var rate: Double
}

extension Invocation {
  /// Opens what `motion post` is to post, runs `body` and closes it, whatever happens.
  func withMotionSources(
    _ options: MotionPostArguments,
    _ body: ([PostedMotion]) async throws(FieldpackError) -> Int32
  ) async throws(FieldpackError) -> Int32 {
    guard !options.usesSensors else { return try await body([try sensors(options)]) }
    guard let name = options.source else {
      throw FieldpackError(
        .invalidArgument, "motion post needs a source. Try: a GeoPackage, - or --sensors")
    }
    switch try MotionFile.kind(of: name) {
    case .lines:
      let posted = try lines(name, options)
      let status = try await body([posted.posted])
      return told(status, posted.lines.report)
    case .geoPackage:
      try refuseIntoItself(name, options)
      return try await withGeoPackage(name, options.profile) { (store) throws(FieldpackError) in
        try await body(try await sessions(of: store, name, options))
      }
    case .log: return try await withLog(name, options, body)
    }
  }

  private func sensors(_ options: MotionPostArguments) throws(FieldpackError) -> PostedMotion {
    try refuseRecorded(options, "sensors")
    let source =
      if let folder = options.source {
        try IndustrialIOSource(folder: folder)
      } else {
        try IndustrialIOSource()
      }
    return PostedMotion(
      source: source, device: try .machine(), rate: options.rate ?? MotionSession.standardRate)
  }

  private func lines(
    _ name: String, _ options: MotionPostArguments
  ) throws(FieldpackError) -> (posted: PostedMotion, lines: MotionLines) {
    try refuseRecorded(options, "lines")
    let (isLive, skipsErrors) = (options.isLive, options.skipsErrors)
    let lines =
      name == "-"
      ? MotionLines(descriptor: 0, isLive: isLive, skipsErrors: skipsErrors)
      : MotionLines(path: name, isLive: isLive, skipsErrors: skipsErrors)
    let posted = PostedMotion(
      source: lines, device: try .machine(), rate: options.rate ?? MotionSession.standardRate)
    return (posted, lines)
  }

  private func refuseRecorded(
    _ options: MotionPostArguments, _ what: String
  ) throws(FieldpackError) {
    guard options.sessions.isEmpty, options.speed == .max else {
      throw FieldpackError(
        .invalidArgument, "\(what) have neither sessions nor a recorded pace. Try: --rate")
    }
  }

  private func refuseIntoItself(
    _ name: String, _ options: MotionPostArguments
  ) throws(FieldpackError) {
    guard let into = options.into else { return }
    guard FileSystem.resolve(name).path != FileSystem.resolve(into).path else {
      throw FieldpackError(.invalidArgument, "\(name) has these samples. Try: without --into")
    }
  }

  private func told(_ status: Int32, _ report: QueryReport) -> Int32 {
    let current = report.current
    guard current.skipped.count > 0 else { return status }
    self.report(current.skipped)
    return status == ExitStatus.success ? ExitStatus.skippedFeatures : status
  }

  // MARK: Recorded sessions

  /// The sessions that are named, or all, one after the other.
  private func sessions(
    of store: GeoPackageStore, _ name: String, _ options: MotionPostArguments
  ) async throws(FieldpackError) -> [PostedMotion] {
    let known = try await store.motionSessions()
    let names = options.sessions
    let list = known.map(\.session.id).joined(separator: ", ")
    for name in names where !known.contains(where: { $0.session.id == name }) {
      throw FieldpackError(
        .notFound, "there is no session '\(name)' (there are: \(list))",
        location: .init(store: store.id, layer: MotionLayers.session))
    }
    guard !known.isEmpty else {
      throw FieldpackError(
        .notFound, "\(name) has no sessions of motion", location: .init(store: store.id))
    }
    var speed: Double?
    if case .times(let factor) = options.speed { speed = factor }
    guard speed == nil || options.rate == nil else {
      throw FieldpackError(
        .invalidArgument, "--speed keeps the pace of the times, and --rate has none of them")
    }
    return known.filter { names.isEmpty || names.contains($0.session.id) }.map { session in
      PostedMotion(
        source: RecordedMotion(
          store, session: session.session.id, speed: speed,
          isLive: options.isLive),
        device: session.session.device, rate: options.rate ?? session.session.rate)
    }
  }

  /// Recorded requests, by way of a GeoPackage that goes afterwards.
  private func withLog(
    _ name: String, _ options: MotionPostArguments,
    _ body: ([PostedMotion]) async throws(FieldpackError) -> Int32
  ) async throws(FieldpackError) -> Int32 {
    let folder = try FileSystem.makeTemporaryFolder()
    defer { FileSystem.removeTree(folder) }
    let path = folder + "/log.gpkg"
    try createGeoPackage(path)
    return try await withGeoPackage(path) { (store) throws(FieldpackError) in
      let report = try await store.importMotion(
        from: [name], skipsErrors: options.skipsErrors)
      for request in report.skippedRequests {
        console.note("\(request.position): skipped: \(request.reason)")
      }
      let status = try await body(try await sessions(of: store, name, options))
      let isSkipping = status == ExitStatus.success && report.skipped > 0
      return isSkipping ? ExitStatus.skippedFeatures : status
    }
  }
}

/// What a file of motion is.
private enum MotionFile {
  case geoPackage
  /// Recorded requests.
  case log
  /// A sample a line.
  case lines

  static func kind(of path: String) throws(FieldpackError) -> MotionFile {
    guard path != "-" else { return .lines }
    switch FileSystem.kind(path) {
    case .folder:
      throw FieldpackError(.invalidArgument, "\(path) is a folder. Try: --sensors")
    case .other: return .lines
    case .file, nil: break
    }
    let head = try ByteInput(path: path).head(1 << 16)
    if head.starts(with: "SQLite format 3\0".utf8) { return .geoPackage }
    let first = head.split(whereSeparator: { $0 == UInt8(ascii: "\n") }).first.map { Array($0) }
    guard let first, let names = memberNames(first) else { return .log }
    return names.contains { $0 == "type" || $0 == "body" } ? .log : .lines
  }

  /// The names of the members of a line that is a JSON object.
  private static func memberNames(_ line: [UInt8]) -> [String]? {
    let node = line.withUnsafeBufferPointer { bytes in
      try? JSONValueReader.read(bytes, maximumDepth: 8)
    }
    guard case .object(let members)? = node else { return nil }
    return members.map { String(decoding: $0.name.utf8, as: UTF8.self) }
  }
}
