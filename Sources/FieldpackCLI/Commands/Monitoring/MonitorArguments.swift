import Fieldpack
import FieldpackCore
import FoundationEssentials

/// What `fieldpack monitor` watches.
struct MonitorArguments: OptionGroup {
  let radius: Double?
  let cushion: Double?
  let distance: Double?
  let significant: Bool
  let regions: String?
  let radiusColumn: String?
  let detect: [String]?
  let hysteresis: Double?
  let dwell: Double?
  let usesAccuracy: Bool
  let accuracyGate: Double?

  init(_ reader: inout OptionReader) {
    radius = reader.value(
      "radius", .number("metres", atLeast: 0),
      help: "Watch a circle of so many metres around the last detection; with --regions, the "
        + "radius of points without one.")
    cushion = reader.value(
      "cushion", .number("metres", atLeast: 0), shownDefault: "0.0",
      help: "Metres beyond the circle that do not count yet.")
    distance = reader.value(
      "distance", .number("metres", atLeast: 0),
      help: "Watch for so many metres from the last detection.")
    significant = reader.flag("significant", help: "As --distance 500.")
    regions = reader.value(
      "regions", .text("file:layer", completion: .files(SourceArguments.extensions)),
      help: "Watch the features of a layer; of a file with one layer, its name is not needed.")
    radiusColumn = reader.value(
      "radius-column", .text("column"),
      help: "The column of the regions' radii in metres; radius_m by default, if there is one.")
    detect = reader.value(
      "detect",
      .list("kind,…", of: .choices(["enter", "exit", "cross", "dwell", "inside", "outside"])),
      help: "What is told of regions; enter,exit,cross by default, and dwell with --dwell.")
    hysteresis = reader.value(
      "hysteresis", .number("metres", atLeast: 0), shownDefault: "0.0",
      help: "A device exits a region only so many metres from its edge.")
    dwell = reader.value(
      "dwell", .number("seconds", atLeast: 0),
      help: "With --regions, tell when a stay has lasted so long; with --radius, only what stays "
        + "beyond for so long is an exit.")
    usesAccuracy = reader.flag(
      "accuracy",
      help: "A device enters and exits a region only with all of its radius of accuracy.")
    accuracyGate = reader.value(
      "accuracy-gate", .number("metres", atLeast: 0),
      help: "Pass over fixes with a larger radius of accuracy.")
  }
}

/// A file of regions, with the layer where it is named.
struct RegionFile: Hashable {
  let path: String
  let layer: String?

  /// - Parameter text: `FILE:LAYER`, or a file that is there.
  init(_ text: String) {
    guard !FileManager.default.fileExists(atPath: text), let colon = text.lastIndex(of: ":"),
      colon != text.startIndex, text.index(after: colon) != text.endIndex
    else {
      (path, layer) = (text, nil)
      return
    }
    path = String(text[..<colon])
    layer = String(text[text.index(after: colon)...])
  }
}

/// Which monitor the options ask for.
struct MonitorPlan {
  /// Where the watched regions are.
  let regions: RegionFile?
  private let arguments: MonitorArguments

  init(_ arguments: MonitorArguments) throws(FieldpackError) {
    self.arguments = arguments
    regions = arguments.regions.map { RegionFile($0) }
    let moves = arguments.distance != nil || arguments.significant
    let circles = arguments.radius != nil && regions == nil
    let count = [regions != nil, moves, circles].count { $0 }
    guard count == 1 else {
      throw FieldpackError(
        .invalidArgument,
        count == 0
          ? "nothing is named that is to be watched. Try: --radius 80, --distance 100, "
            + "--significant or --regions FILE:LAYER"
          : "one monitor at a time: --radius, --distance or --significant, or --regions")
    }
    if regions == nil {
      try refuse(arguments.radiusColumn != nil, "--radius-column", "--regions")
      try refuse(arguments.detect != nil, "--detect", "--regions")
      try refuse(arguments.hysteresis != nil, "--hysteresis", "--regions")
      try refuse(arguments.usesAccuracy, "--accuracy", "--regions")
    }
    if !circles { try refuse(arguments.cushion != nil, "--cushion", "--radius without --regions") }
    if moves { try refuse(arguments.dwell != nil, "--dwell", "--radius or --regions") }
    if arguments.distance != nil, arguments.significant {
      throw FieldpackError(.invalidArgument, "--significant is --distance 500: only one of both")
    }
    // What is wrong with the options shows before anything is read.
    _ = try monitor(regions == nil ? nil : try WatchedRegions([]))
  }

  private func refuse(
    _ isGiven: Bool, _ option: String, _ needed: String
  ) throws(FieldpackError) {
    guard isGiven else { return }
    throw FieldpackError(.invalidArgument, "\(option) has a meaning only with \(needed)")
  }

  /// - Parameter known: the regions, where they are watched.
  func monitor(_ known: WatchedRegions?) throws(FieldpackError) -> any FixMonitor {
    let gate = arguments.accuracyGate
    if let known { return try GeofenceMonitor(known, options: try options(gate)) }
    if arguments.significant {
      return try DistanceMonitor(distance: DistanceMonitor.significant, accuracyGate: gate)
    }
    if let distance = arguments.distance {
      return try DistanceMonitor(distance: distance, accuracyGate: gate)
    }
    return try AnchorMonitor(
      radius: arguments.radius ?? 80, cushion: arguments.cushion ?? 0,
      dwell: arguments.dwell ?? 0, accuracyGate: gate)
  }

  private func options(_ gate: Double?) throws(FieldpackError) -> GeofenceMonitor.Options {
    var options = GeofenceMonitor.Options()
    options.hysteresis = arguments.hysteresis ?? 0
    options.usesAccuracy = arguments.usesAccuracy
    options.accuracyGate = gate
    options.dwell = arguments.dwell
    if let names = arguments.detect {
      options.kinds = []
      for name in names {
        guard let kind = Detection.Kind(rawValue: name) else {
          throw FieldpackError(
            .invalidArgument,
            "there is no detection '\(name)'. Try: "
              + "enter, exit, cross, dwell, inside, outside")
        }
        options.kinds.insert(kind)
      }
    } else if options.dwell != nil {
      options.kinds.insert(.dwell)
    }
    return options
  }
}
