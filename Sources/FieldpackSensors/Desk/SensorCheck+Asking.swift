import FieldpackCore

extension SensorCheck {
  /// Asks a sensor what it can capture.
  package init(of address: SensorAddress, for modality: Modality, _ type: CaptureType) async {
    do throws(FieldpackError) {
      let answer = try await SensorClient(address.uri).perform(SensorRequest(.getCommonInfo))
      guard answer.result.isSuccess, let info = answer.result.metadata else {
        self = .notFound
        return
      }
      self.init(
        modality: info.parameter("modality").map { Parameter($0) },
        submodality: info.parameter("submodality").map { Parameter($0) }, for: modality, type)
    } catch {
      self = .notFound
    }
  }

  /// What programs read, such as `badModality`.
  package var name: String {
    switch self {
    case .blank: "blank"
    case .checking: "checking"
    case .notFound: "notFound"
    case .badModality: "badModality"
    case .badSubmodality: "badSubmodality"
    case .successful: "successful"
    }
  }
}

extension SensorCheck.Parameter {
  init(_ parameter: SensorParameter) {
    self.init(
      isReadOnly: parameter.isReadOnly ?? false, defaultValue: parameter.defaultValue.text,
      allowedValues: parameter.allowedValues?.compactMap(\.text) ?? [])
  }
}
