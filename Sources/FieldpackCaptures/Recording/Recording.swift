import FieldpackCore
import FieldpackLocation

/// A capture that is being recorded, with its files.
struct Recording {
  /// Points of this much are a geo-data file that can be read again.
  private static let limit = CaptureFolder.Limits.geodata / 2

  let folder: RecordingFolder
  private(set) var notes: RecordingNotes
  private let notesFile: AppendedFile
  private let pointsFile: AppendedFile
  private var taking: PointTaking
  private(set) var count = 0
  /// Whether what is wrong with the disk ended it.
  private(set) var isBroken = false

  /// Begins one.
  init(
    _ plan: RecordingPlan, in folder: RecordingFolder, createdAt: Double, destination: String?
  ) throws(FieldpackError) {
    self.folder = folder
    notes = RecordingNotes(plan, createdAt: createdAt.rounded(.down), destination: destination)
    taking = PointTaking(plan.kind, plan.timing)
    pointsFile = try folder.appending(to: RecordingNotes.points)
    notesFile = try folder.appending(to: RecordingNotes.file)
    try notesFile.append(notes.beginning)
    try folder.sync()
  }

  /// Where the media are to be written.
  var media: String { "\(folder.path)/\(notes.media)" }

  /// Appends the points of what a source tells, which are on the disk when this returns.
  ///
  /// - Parameter seconds: since the recording began.
  /// - Returns: the points; of an image the last.
  mutating func take(
    _ updates: [LocationUpdate], after seconds: Double
  ) throws(FieldpackError) -> [CapturePoint] {
    var next = taking
    var points = updates.compactMap { next.take($0, after: seconds) }
    guard !points.isEmpty else {
      taking = next
      return []
    }
    if notes.kind == .image { points.removeFirst(points.count - 1) }
    do throws(FieldpackError) {
      guard pointsFile.length < Self.limit else {
        throw FieldpackError(
          .unsupported,
          "the recording has \(count) points; geo-data of more could not be read. Try: finish it")
      }
      if let date = next.date, date != taking.date, next.timing == .fixes { try note(date) }
      try pointsFile.append(JSONLines.bytes(points.map(\.document)))
    } catch {
      isBroken = true
      throw error
    }
    taking = next
    count = notes.kind == .image ? 1 : count + points.count
    return points
  }

  private mutating func note(_ date: Instant) throws(FieldpackError) {
    notes.createdAt = (Double(date.milliseconds) / 1000).rounded(.down)
    try notesFile.append(RecordingNotes.line("created_at", .number(notes.createdAt)))
  }

  /// Copies media that were checked.
  func takeMedia(_ file: FileToCopy) throws(FieldpackError) {
    try folder.copy(file, as: notes.media)
  }

  /// Whether there are media of more than no bytes, under their name or that of the capture.
  var hasMedia: Bool {
    get throws(FieldpackError) {
      if try folder.size(of: notes.media) ?? 0 > 0 { return true }
      return try hasOwnFiles
    }
  }

  /// Whether the capture's own files are there: media that came now would not be among them.
  var hasOwnFiles: Bool {
    get throws(FieldpackError) {
      let bytes = try folder.bytes(of: RecordingNotes.file, limit: RecordingNotes.limit)
      guard let token = bytes.flatMap(RecordingNotes.init)?.token else { return false }
      return try folder.names().contains { $0.hasPrefix(token) }
    }
  }
}
