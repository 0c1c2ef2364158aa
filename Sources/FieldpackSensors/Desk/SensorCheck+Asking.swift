import FieldpackCore

extension SensorCheck {
  /// Asks a sensor what it can capture.
  ///
  /// - Parameter cameras: which cameras of this machine are found.
  package init(
    of address: SensorAddress, for modality: Modality, _ type: CaptureType, cameras: CameraAccess
  ) async {
    do throws(FieldpackError) {
      let sensor = try SensorClient.sensor(at: address.uri, cameras: cameras)
      let result = try await sensor.perform(SensorRequest(.getCommonInfo)).result
      guard result.isSuccess, let information = result.metadata else {
        self = .notFound
        return
      }
      self.init(information, for: modality, type)
    } catch {
      self = .notFound
    }
  }

  /// What programs read, such as `bad_modality`.
  package var name: String {
    switch self {
    case .blank: "blank"
    case .checking: "checking"
    case .notFound: "not_found"
    case .badModality: "bad_modality"
    case .badSubmodality: "bad_submodality"
    case .successful: "found"
    }
  }
}
