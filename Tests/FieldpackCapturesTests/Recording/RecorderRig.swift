import FieldpackCore
import FieldpackField
import FieldpackLocation
import FieldpackTestSupport
import Foundation

@testable import FieldpackCaptures

/// A folder to record into, and a clock that tells what the test says.
final class RecorderRig: Sendable {
  static let picture: [UInt8] =
    [0xFF, 0xD8, 0xFF, 0xC0, 0, 11, 8, 0, 3, 0, 4, 1, 1, 0x11, 0] + [0xFF, 0xD9]
  static let film = TestMovie.bytes()

  let folder: TemporaryFolder
  /// The folder of captures, which is not there yet.
  let root: String
  let making: CaptureMaking

  init() throws {
    folder = try TemporaryFolder()
    root = folder.file("captures").path
    let identity = try MachineIdentity.stored(in: folder.file("install").path)
    // Without ffmpeg, which need not be here.
    making = CaptureMaking(identity: identity, makesThumbnail: false)
  }

  /// - Parameter seconds: what the monotonic clock tells at the beginning of a recording and at each
  ///   batch of updates.
  func recorder(
    _ seconds: [Double] = [], root other: String? = nil,
    into destination: CaptureDestination? = nil,
    atStep: @escaping @Sendable (RecordingStep) -> Void = { _ in }
  ) throws -> CaptureRecorder {
    let left = Locked(seconds)
    let clock = FieldClock(
      wall: { .milliseconds(1_714_978_230_750) },
      uptime: { .seconds(left.withLock { $0.isEmpty ? 0 : $0.removeFirst() }) }, sleep: { _ in })
    return try CaptureRecorder(
      folder: other ?? root, making: making, into: destination, clock: clock, atStep: atStep)
  }

  func media(_ kind: CaptureInfo.MediaKind) throws -> String {
    let file = folder.file(kind == .video ? "clip.mov" : "shot.jpg")
    try Data(kind == .video ? Self.film : Self.picture).write(to: file)
    return file.path
  }

  /// What is in the folder of captures, hidden names, too.
  func names(_ other: String? = nil) throws -> [String] {
    guard FileManager.default.fileExists(atPath: other ?? root) else { return [] }
    return try FileManager.default.contentsOfDirectory(atPath: other ?? root).sorted()
  }

  /// A capture as it lies in its folder, once it was found to be whole.
  func capture(_ token: String, in other: String? = nil) throws -> FoundCapture {
    let path = other ?? root
    let found = try CaptureFolder(path: path).capture(token)
    let end = found.info.kind == .video ? "mov" : "jpg"
    let expected = ["\(token).\(end)", "\(token).json", "capture-info.json"]
    let files = try FileManager.default.contentsOfDirectory(atPath: "\(path)/\(token)")
    guard Set(files) == Set(expected), found.info.token == token else {
      throw FieldpackError(.invalidData, "\(token) has the files \(files)")
    }
    return found
  }
}

extension Fix {
  static func at(_ x: Double, _ y: Double = 52, accuracy: Double? = nil, time: Double? = nil) -> Fix
  {
    Fix(
      longitude: x, latitude: y,
      time: time.map { Instant(milliseconds: Int64($0 * 1000)) }, accuracy: accuracy)
  }
}

extension CapturePoint {
  /// In one line, for comparing many.
  var text: String {
    "\(time) \(longitude) \(heading.map { "\($0)" } ?? "-") \(accuracy.map { "\($0)" } ?? "-")"
  }
}

extension RecorderState {
  /// In one line, without what differs from run to run.
  var text: String {
    switch self {
    case .ready: "ready"
    case .recording(let count, let new): "recording \(count), \(new.count) new"
    case .sourceEnded: "source ended"
    case .finishing: "finishing"
    case .finished(let recorded): "finished with \(recorded.points)"
    case .discarded: "discarded"
    case .failed(let error): "failed: \(error.locationFailure?.rawValue ?? error.code.name)"
    case .left(let left): "left: \(left.text)"
    }
  }
}

extension LeftRecording {
  var text: String {
    switch outcome {
    case .completed: "\(points) completed"
    case .discarded: "\(points) discarded"
    case .kept(let error): "\(points) kept: \(error.code.name)"
    }
  }
}

/// Gives some updates, and then nothing until it is cancelled.
struct OpenSource: LocationSource {
  var first: [LocationUpdate] = []

  func updates() -> LocationUpdates {
    let first = first
    return LocationUpdates {
      let isGiven = Locked(first.isEmpty)
      return { () async throws(FieldpackError) in
        let isFirst = isGiven.withLock { isGiven in
          defer { isGiven = true }
          return !isGiven
        }
        if isFirst { return first }
        while !Task.isCancelled { try? await Task.sleep(for: .seconds(60)) }
        throw FieldpackError(.interrupted, "the reading of fixes was cancelled")
      }
    }
  }
}

/// The states of a recorder as texts, up to one that begins with `last`.
func texts(of states: CaptureRecorderStates, until last: String) async -> [String] {
  var texts: [String] = []
  for await state in states {
    texts.append(state.text)
    if state.text.hasPrefix(last) { break }
  }
  return texts
}
