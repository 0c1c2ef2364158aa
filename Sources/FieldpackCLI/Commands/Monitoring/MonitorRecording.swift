import Fieldpack
import FieldpackCore

/// Whether `fieldpack monitor` keeps detections, and where.
struct RecordingArguments: OptionGroup {
  private let name: String?
  private let into: String?
  let follows: Bool

  init(_ reader: inout OptionReader) {
    name = reader.value(
      "record", .text("name"),
      help: "Keep the detections as a run of this name; a run that exists goes on where it "
        + "stopped.")
    into = reader.value(
      "into", .target,
      help: "The GeoPackage that the run is kept in; the source by default.")
    follows = reader.flag(
      "follow",
      help: "Show each detection as it comes, also of a file; with --json as a document in a line "
        + "of its own.")
  }

  /// The name of the run and its GeoPackage; `nil` where none is kept.
  func target(source: String) throws(FieldpackError) -> (name: String, path: String)? {
    guard let name else {
      guard into == nil else {
        throw FieldpackError(.invalidArgument, "--into has a meaning only with --record")
      }
      return nil
    }
    guard let path = into ?? (source.lowercased().hasSuffix(".gpkg") ? source : nil) else {
      throw FieldpackError(
        .invalidArgument,
        "\(source == "-" ? "standard input" : source) is no GeoPackage that a run could be kept in. "
          + "Try: --into FILE.gpkg")
    }
    return (name, path)
  }
}

/// `fieldpack monitor --record`: keeps detections and state in a GeoPackage.
struct MonitorRecording {
  let name: String
  let store: GeoPackageStore

  /// The store that is kept open, where `path` is its file.
  func store(at path: String) -> GeoPackageStore? {
    FileSystem.resolve(path).path == FileSystem.resolve(store.path).path ? store : nil
  }

  /// Gives the detections of each transaction after its commit.
  func watch(
    _ monitor: any FixMonitor, _ source: any LocationSource, _ regions: RegionLayer?,
    origin: String, isReplay: Bool, _ console: Console,
    _ body: ([Detection]) throws(FieldpackError) -> Void
  ) async throws(FieldpackError) {
    let run = RecordedMonitor(monitor, in: store, as: name, watching: regions)
    let steps = run.watch(
      source, origin: origin, isReplay: isReplay, note: { console.note($0) }, words: { $0.text })
    try await steps.run { (step) throws(FieldpackError) in try body(step.detections) }
  }
}
