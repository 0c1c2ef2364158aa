import FieldpackCore
import FieldpackMonitoring

/// How fixes are chosen as points of a track.
public enum Sampling: Hashable, Sendable, LosslessStringConvertible {
  /// Keeps the first fix, and each fix more than so many metres from the last point, as PhotoPath's
  /// boundary does.
  case region(Double)
  /// Keeps the first fix, and each fix so many metres from the last point, or more.
  case distance(Double)
  /// Keeps every fix.
  case all

  /// Reads `region:80`, `distance:100` or `all`. Without a number these are 80 and 100 metres.
  public init?(_ description: String) {
    let parts = description.split(separator: ":", omittingEmptySubsequences: false)
    let number = parts.count == 2 ? Double(String(parts[1])) : nil
    if parts.count == 2 { guard let number, number.isFinite, number > 0 else { return nil } }
    switch (parts.first, parts.count) {
    case ("region", 1...2): self = .region(number ?? 80)
    case ("distance", 1...2): self = .distance(number ?? 100)
    case ("all", 1): self = .all
    default: return nil
    }
  }

  public var description: String {
    switch self {
    case .region(let radius): "region:\(radius)"
    case .distance(let distance): "distance:\(distance)"
    case .all: "all"
    }
  }

  /// Regions are watched also while the user does something else.
  var needsAlways: Bool { if case .region = self { true } else { false } }

  /// As a track's row tells it: all fixes are those at any distance.
  var monitor: RecordedTrack.Monitor { if case .region = self { .boundary } else { .distance } }

  var threshold: Double {
    switch self {
    case .region(let threshold), .distance(let threshold): threshold
    case .all: 0
    }
  }

  func makeMonitor() throws(FieldpackError) -> any FixMonitor {
    switch self {
    case .region(let radius): try AnchorMonitor(radius: radius)
    case .distance(let distance): try DistanceMonitor(distance: distance)
    case .all: EveryFixMonitor()
    }
  }
}
