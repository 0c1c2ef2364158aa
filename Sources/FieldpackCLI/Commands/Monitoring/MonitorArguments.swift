import Fieldpack
import FieldpackCore
import FoundationEssentials

/// What `fieldpack monitor` takes.
enum MonitorArguments {
  static let radius = Option<Double?>.value(
    "radius", .number("metres", atLeast: 0),
    help: "Watch a circle of so many metres around the last detection; with --regions, the radius "
      + "of points without one.")
  static let cushion = Option<Double>.value(
    "cushion", .number("metres", atLeast: 0), default: 0,
    help: "Metres beyond the circle that do not count yet.")
  static let distance = Option<Double?>.value(
    "distance", .number("metres", atLeast: 0),
    help: "Watch for so many metres from the last detection.")
  static let significant = Option<Bool>.flag("significant", help: "As --distance 500.")
  static let regions = Option<String?>.value(
    "regions", .text("file:layer", completion: .files(SourceArguments.extensions)),
    help: "Watch the features of a layer; of a file with one layer, its name is not needed.")
  static let column = Option<String?>.value(
    "radius-column", .text("column"),
    help: "The column of the regions' radii in metres; radius_m by default, if there is one.")
  static let detect = Option<[String]?>.value(
    "detect",
    .list("kind,…", of: .choices(["enter", "exit", "cross", "dwell", "inside", "outside"])),
    help: "What is told of regions; enter,exit,cross by default, and dwell with --dwell.")
  static let hysteresis = Option<Double>.value(
    "hysteresis", .number("metres", atLeast: 0), default: 0,
    help: "A device exits a region only so many metres from its edge.")
  static let dwell = Option<Double?>.value(
    "dwell", .number("seconds", atLeast: 0),
    help: "With --regions, tell when a stay has lasted so long; with --radius, only what stays "
      + "beyond for so long is an exit.")
  static let accuracy = Option<Bool>.flag(
    "accuracy",
    help: "A device enters and exits a region only with all of its radius of accuracy.")
  static let gate = Option<Double?>.value(
    "accuracy-gate", .number("metres", atLeast: 0),
    help: "Pass over fixes with a larger radius of accuracy.")

  static let options: [any OptionKey] = [
    radius, distance, significant, regions, column, detect, FixArguments.device, cushion,
    hysteresis, dwell, accuracy, gate,
  ]
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
  /// Of regions without one of their own.
  var radius: Double? { arguments[MonitorArguments.radius] }
  private let arguments: ParsedArguments

  init(_ arguments: ParsedArguments) throws(FieldpackError) {
    self.arguments = arguments
    regions = arguments[MonitorArguments.regions].map { RegionFile($0) }
    let moves =
      arguments.contains(MonitorArguments.distance) || arguments[MonitorArguments.significant]
    let circles = arguments.contains(MonitorArguments.radius) && regions == nil
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
      try refuse(MonitorArguments.column, "--regions")
      try refuse(MonitorArguments.detect, "--regions")
      try refuse(MonitorArguments.hysteresis, "--regions")
      try refuse(MonitorArguments.accuracy, "--regions")
    }
    if !circles { try refuse(MonitorArguments.cushion, "--radius without --regions") }
    if moves { try refuse(MonitorArguments.dwell, "--radius or --regions") }
    if moves, arguments.contains(MonitorArguments.distance),
      arguments[MonitorArguments.significant]
    {
      throw FieldpackError(.invalidArgument, "--significant is --distance 500: only one of both")
    }
    // What is wrong with the options shows before anything is read.
    _ = try monitor(regions == nil ? nil : try WatchedRegions([]))
  }

  private func refuse<Value>(
    _ option: Option<Value>, _ needed: String
  ) throws(FieldpackError) {
    guard arguments.contains(option) else { return }
    throw FieldpackError(
      .invalidArgument, "--\(option.spec.name) has a meaning only with \(needed)")
  }

  /// - Parameter known: the regions, where they are watched.
  func monitor(_ known: WatchedRegions?) throws(FieldpackError) -> any FixMonitor {
    let gate = arguments[MonitorArguments.gate]
    if let known { return try GeofenceMonitor(known, options: try options(gate)) }
    if arguments[MonitorArguments.significant] {
      return try DistanceMonitor(distance: DistanceMonitor.significant, accuracyGate: gate)
    }
    if let distance = arguments[MonitorArguments.distance] {
      return try DistanceMonitor(distance: distance, accuracyGate: gate)
    }
    return try AnchorMonitor(
      radius: radius ?? 80, cushion: arguments[MonitorArguments.cushion],
      dwell: arguments[MonitorArguments.dwell] ?? 0, accuracyGate: gate)
  }

  private func options(_ gate: Double?) throws(FieldpackError) -> GeofenceMonitor.Options {
    var options = GeofenceMonitor.Options()
    options.hysteresis = arguments[MonitorArguments.hysteresis]
    options.usesAccuracy = arguments[MonitorArguments.accuracy]
    options.accuracyGate = gate
    options.dwell = arguments[MonitorArguments.dwell]
    if let names = arguments[MonitorArguments.detect] {
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
