import Fieldpack
import FieldpackCore
import FoundationEssentials

/// `fieldpack monitor --record`: keeps detections and state in a GeoPackage.
struct MonitorRecording {
  static let record = Option<String?>.value(
    "record", .text("name"),
    help: "Keep detections, and all that is known, as a run of this name, which goes on from where "
      + "it was.")
  static let into = Option<String?>.value(
    "into", .file("gpkg", "gpkg"),
    help: "The GeoPackage that the run is kept in; the source by default.")
  static let follow = Option<Bool>.flag(
    "follow",
    help: "Show each detection as it comes, as without it only where fixes do; under --json as a "
      + "document in its own line.")

  static let options: [any OptionKey] = [record, into, follow]

  let name: String
  let store: GeoPackageStore

  /// Runs `body` with the run that the options ask for, or with none.
  ///
  /// The GeoPackage is closed last, so that it can go back to its own journal mode.
  static func with(
    _ invocation: Invocation,
    _ body: (MonitorRecording?) async throws(FieldpackError) -> Int32
  ) async throws(FieldpackError) -> Int32 {
    let arguments = invocation.arguments
    guard let name = arguments[record] else {
      guard arguments[into] == nil else {
        throw FieldpackError(
          .invalidArgument, "--into has a meaning only with --record")
      }
      return try await body(nil)
    }
    let source = arguments[FixArguments.source]
    guard let path = arguments[into] ?? (source.lowercased().hasSuffix(".gpkg") ? source : nil)
    else {
      throw FieldpackError(
        .invalidArgument,
        "\(source == "-" ? "standard input" : source) is no GeoPackage that a run could be kept in. "
          + "Try: --into FILE.gpkg")
    }
    try invocation.createGeoPackage(path)
    return try await invocation.withGeoPackage(path) { (store) throws(FieldpackError) in
      try await body(MonitorRecording(name: name, store: store))
    }
  }

  /// The store that is kept open, where `path` is its file.
  func store(at path: String) -> GeoPackageStore? {
    Self.real(path) == Self.real(store.path) ? store : nil
  }

  private static func real(_ path: String) -> String {
    URL(fileURLWithPath: path).resolvingSymlinksInPath().path
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
