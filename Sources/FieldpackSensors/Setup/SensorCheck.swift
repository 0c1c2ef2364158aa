/// What asking a sensor's address says of whether the sensor can capture an item.
public enum SensorCheck: Hashable, Sendable {
  /// There is no address to ask.
  case blank
  case checking
  case notFound
  case badModality(Modality)
  case badSubmodality(CaptureType)
  case successful

  /// What people read; empty while the sensor is asked.
  public var text: String {
    switch self {
    case .blank: "Enter a sensor address below."
    case .checking: ""
    case .notFound: "No sensor found at this address."
    case .badModality(let modality): Self.cannot(modality.title)
    case .badSubmodality(let type): Self.cannot(type.title)
    case .successful: "Found a sensor at this address."
    }
  }

  private static func cannot(_ title: String) -> String {
    "The sensor at this address can't capture \(title.lowercased()) data."
  }

  /// What the parameters `modality` and `submodality` of a sensor say; a sensor without them captures
  /// nothing that can be named.
  ///
  /// - Parameters:
  ///   - modality: `nil` for any.
  ///   - type: `nil` for any.
  package init(_ information: SensorDictionary, for modality: Modality?, _ type: CaptureType?) {
    if let modality, !information.allows("modality", modality.title) {
      self = .badModality(modality)
    } else if let type, !information.allows("submodality", type.parameterName) {
      self = .badSubmodality(type)
    } else {
      self = .successful
    }
  }
}
