import FieldpackCore

/// The end of a recording: from what lies in its folder to a capture under its name. Each step can be
/// done again after a kill, and what was written decides where to go on.
struct Settlement {
  let settings: RecordingSettings
  let folder: RecordingFolder
  /// Where the media were copied from; `nil` for those that came to be in the folder.
  var mediaPath: String?
  /// Called with the token as soon as it is on the disk.
  var tokenIsNoted: (String) -> Void = { _ in }
  /// Called with what is wrong with media that were kept as they are; `nil` where that is an error.
  var mediaAreUnread: (@Sendable (FieldpackError) -> Void)?

  /// What the folder holds.
  enum Content {
    /// A recording that can be completed.
    case recording(RecordingNotes, [CapturePoint])
    /// A capture that is complete but for its name.
    case capture(RecordingNotes?, FoundInfo)
    /// What is left of a capture that was imported and is not kept.
    case imported
    /// Nothing that a capture can be made of, but so many points.
    case nothing(points: Int)
  }

  struct FoundInfo {
    var info: CaptureInfo
    var points: Int
  }

  /// The points of an image are read as its last alone.
  func content() throws(FieldpackError) -> Content {
    let notes = try folder.bytes(of: RecordingNotes.file, limit: RecordingNotes.limit)
      .flatMap(RecordingNotes.init)
    if notes?.isImported ?? false { return .imported }
    let points = try points(of: notes)
    let hasPointsFile = try folder.size(of: RecordingNotes.points) != nil
    // The points go when the capture is complete, the notes after them.
    if !hasPointsFile, let found = try wholeCapture(notes) { return .capture(notes, found) }
    guard let notes, !points.isEmpty, try hasMedia(notes) else {
      return .nothing(points: points.count)
    }
    return .recording(notes, points)
  }

  private func points(of notes: RecordingNotes?) throws(FieldpackError) -> [CapturePoint] {
    let limit = CaptureFolder.Limits.geodata
    guard let notes, let bytes = try folder.bytes(of: RecordingNotes.points, limit: limit) else {
      return []
    }
    var points: [CapturePoint] = []
    for line in JSONLines(bytes) {
      guard let members = try? JSONMembers(line, of: RecordingNotes.points),
        let point = try? CaptureReading.point(members)
      else { break }
      points.append(point)
    }
    return notes.kind == .image ? points.suffix(1) : points
  }

  private func hasMedia(_ notes: RecordingNotes) throws(FieldpackError) -> Bool {
    var names = [notes.media]
    if let token = notes.token.flatMap(CaptureToken.init) {
      names += ["\(token).jpg", "\(token).mov"]
    }
    for name in names where try folder.size(of: name) ?? 0 > 0 { return true }
    return false
  }

  /// `nil` where none was made; media are not read, however long they are.
  ///
  /// - Throws: what is wrong with one that was made: it is not thrown away.
  private func wholeCapture(
    _ notes: RecordingNotes?
  ) throws(FieldpackError) -> FoundInfo? {
    guard try folder.size(of: CaptureReading.infoFile) != nil else { return nil }
    let (found, _) = try CaptureFolder(path: folder.path).reading("capture")
    guard CaptureToken(found.info.token) != nil, notes == nil || notes?.token == found.info.token
    else {
      throw FieldpackError(.invalidData, "\(folder.path) holds the capture of another recording")
    }
    let media = try CaptureFileNames(found.info).media
    guard try folder.size(of: media) ?? 0 > 0 else {
      throw FieldpackError(.invalidData, "\(folder.path)/\(media) is missing or empty")
    }
    return FoundInfo(info: found.info, points: found.geodata.points.count)
  }

  // MARK: Steps

  func settle(
    _ content: Content
  ) async throws(FieldpackError) -> RecordedCapture? {
    switch content {
    case .nothing, .imported:
      try folder.removeAll()
      return nil
    case .capture(let notes, let found):
      return try await handOver(found.info, notes, points: found.points)
    case .recording(var notes, let points):
      let token = try token(of: &notes)
      settings.atStep(.tokenNoted)
      tokenIsNoted(token.description)
      let draft = CaptureDraft(points: points, createdAt: notes.createdAt, title: notes.title)
      let info = try await complete(draft, token, notes)
      settings.atStep(.completed)
      return try await handOver(info, notes, points: points.count)
    }
  }

  private func complete(
    _ draft: CaptureDraft, _ token: CaptureToken, _ notes: RecordingNotes
  ) async throws(FieldpackError) -> CaptureInfo {
    do throws(FieldpackError) {
      return try await settings.making.complete(
        draft, token: token, media: notes.media, copiedFrom: mediaPath, in: folder.path)
    } catch {
      // A camera that was killed leaves media that no later start could read either.
      guard let mediaAreUnread, error.code == .invalidData else { throw error }
      let info = try settings.making.completeUnread(
        draft, as: notes.kind, token: token, media: notes.media, in: folder.path)
      mediaAreUnread(error)
      return info
    }
  }

  /// Once written it stays the same, so that nothing is there twice.
  private func token(of notes: inout RecordingNotes) throws(FieldpackError) -> CaptureToken {
    if let token = notes.token.flatMap(CaptureToken.init) { return token }
    let token = try settings.making.token(at: notes.createdAt)
    try note("token", .text(token.description))
    notes.token = token.description
    return token
  }

  /// Appends to the notes.
  private func note(_ name: String, _ value: JSONValue) throws(FieldpackError) {
    var lines = JSONLines(
      try folder.bytes(of: RecordingNotes.file, limit: RecordingNotes.limit) ?? [])
    while lines.next() != nil {}
    // What was cut in the middle of a line would hide the one that comes now.
    let file = try folder.appending(to: RecordingNotes.file, keeping: lines.end)
    try file.append(RecordingNotes.line(name, value))
  }

  /// Imports the capture where it is to be, and gives its folder the name.
  private func handOver(
    _ info: CaptureInfo, _ notes: RecordingNotes?, points: Int
  ) async throws(FieldpackError) -> RecordedCapture {
    var recorded = RecordedCapture(info: info, points: points, folder: nil, key: nil)
    let destination = settings.destination.flatMap { $0.path == notes?.destination ? $0 : nil }
    var failure: FieldpackError?
    if let destination {
      do throws(FieldpackError) {
        recorded.key = try await destination.take(folder.path)
        settings.atStep(.imported)
      } catch {
        guard destination.keepsFolders else {
          throw destination.notImported(folder.path, error)
        }
        failure = error
      }
    }
    guard destination?.keepsFolders ?? true else {
      try note("imported", .boolean(true))
      try folder.removeAll()
      return recorded
    }
    try commit(info)
    let target = "\(folder.root)/\(info.token)"
    recorded.folder = target
    if let failure, let destination { throw destination.notImported(target, failure) }
    return recorded
  }

  /// Leaves only the capture's files in the folder, the notes of the recording to the last, and gives
  /// the folder its name.
  private func commit(_ info: CaptureInfo) throws(FieldpackError) {
    let names = try CaptureFileNames(info)
    let kept = [names.media, names.thumbnail, names.geodata, CaptureReading.infoFile]
    let last = [RecordingNotes.points, RecordingNotes.file]
    for name in try folder.names() where !kept.contains(name) && !last.contains(name) {
      try folder.remove(name)
    }
    try folder.remove(RecordingNotes.points)
    settings.atStep(.pointsRemoved)
    try folder.remove(RecordingNotes.file)
    settings.atStep(.notesRemoved)
    try folder.commit(as: info.token)
    settings.atStep(.renamed)
  }
}

extension CaptureDestination {
  /// Imports the capture in a folder; one that is there already stays as it is.
  func take(_ folder: String) async throws(FieldpackError) -> KeyTuple? {
    let report = try await CaptureImport().run([folder], into: path, id: store)
    if let refusal = report.refused.first { throw refusal.error }
    return (report.imported + report.known).first?.key
  }

  func notImported(_ folder: String, _ error: FieldpackError) -> FieldpackError {
    let again = FieldpackError.Advice.importCapture(folder: folder, into: path)
    return FieldpackError(
      error.code,
      "the capture is whole in \(folder) but could not be imported: \(error.message)",
      advice: error.advice?.then(again) ?? again, location: error.location,
      position: error.position, underlying: error.underlying)
  }
}
