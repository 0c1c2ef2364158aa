import FieldpackCore

extension SensorLinks {
  /// What a sensor is to be set to, without what the sensor says that nobody can set: such as its
  /// modality, which a sensor of one kind refuses to be told.
  ///
  /// - Throws: where the sensor does not say what it is.
  func settable(_ target: SensorTarget) async throws(FieldpackError) -> SensorTarget {
    guard !target.address.uri.isEmpty else { return target }
    let information = try await made(target.address).information()
    var target = target
    target.configuration.items.removeAll { information.parameter($0.key)?.isReadOnly == true }
    return target
  }
}

extension SensorLink {
  /// What the sensor says of itself, asked for once.
  func information() async throws(FieldpackError) -> SensorDictionary {
    if let known = knownInformation { return known }
    let result = try await ask(SensorRequest(.getCommonInfo))
    guard result.isSuccess, let information = result.metadata else {
      throw FieldpackError(.unavailable, "the sensor does not say what it is: \(result.text)")
    }
    knownInformation = information
    return information
  }
}
