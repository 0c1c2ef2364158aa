import Fieldpack
import FieldpackCore

/// What `fieldpack monitor` watches.
struct MonitorArguments: OptionGroup {
  let radius: Double?
  let cushion: Double?
  let distance: Double?
  let significant: Bool
  let regions: SourceName?
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
      help: "An exit needs so many metres more than the radius.")
    distance = reader.value(
      "distance", .number("metres", atLeast: 0),
      help: "Detect each fix so many metres or more from the last detection.")
    significant = reader.flag("significant", help: "The same as --distance 500.")
    regions = reader.value(
      "regions", .source(),
      help: "Watch the features of a layer; of a file with one layer, its name is not needed.")
    radiusColumn = reader.value(
      "radius-column", .text("column"),
      help: "The column of the regions' radii in metres; radius_m by default, if there is one.")
    detect = reader.value(
      "detect",
      .list("kind,…", of: .choices(["enter", "exit", "cross", "dwell", "inside", "outside"])),
      help: "What to detect; by default enter,exit,cross, and dwell with --dwell.")
    hysteresis = reader.value(
      "hysteresis", .number("metres", atLeast: 0), shownDefault: "0.0",
      help: "A device exits a region when it is so many metres beyond the edge.")
    dwell = reader.value(
      "dwell", .number("seconds", atLeast: 0),
      help:
        "With --regions, detect a stay of so many seconds. With --radius, an exit needs so many "
        + "seconds outside the circle.")
    usesAccuracy = reader.flag(
      "accuracy",
      help: "A device enters or exits a region when its whole circle of accuracy does.")
    accuracyGate = reader.value(
      "accuracy-gate", .number("metres", atLeast: 0),
      help: "Leave out fixes whose accuracy is worse than so many metres.")
  }
}

/// Which monitor the options ask for.
struct MonitorPlan {
  private let arguments: MonitorArguments

  init(_ arguments: MonitorArguments) throws(FieldpackError) {
    self.arguments = arguments
    let regions = arguments.regions
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
