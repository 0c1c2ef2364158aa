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

  /// A parameter of a sensor, as its information tells it.
  public struct Parameter: Hashable, Sendable {
    public var isReadOnly: Bool
    public var defaultValue: String?
    public var allowedValues: [String]

    public init(isReadOnly: Bool, defaultValue: String?, allowedValues: [String] = []) {
      self.isReadOnly = isReadOnly
      self.defaultValue = defaultValue
      self.allowedValues = allowedValues
    }

    /// Whether it has that value, where it cannot be set, or may have it. Case does not matter.
    func accepts(_ value: String) -> Bool {
      let wanted = value.lowercased()
      let values = isReadOnly ? [defaultValue].compactMap { $0 } : allowedValues
      return values.contains { $0.lowercased() == wanted }
    }
  }

  /// What the parameters `modality` and `submodality` of a sensor say; a sensor without them captures
  /// nothing that can be named.
  public init(
    modality: Parameter?, submodality: Parameter?, for wanted: Modality, _ type: CaptureType
  ) {
    if modality?.accepts(wanted.title) != true {
      self = .badModality(wanted)
    } else if submodality?.accepts(type.parameterName) != true {
      self = .badSubmodality(type)
    } else {
      self = .successful
    }
  }
}
