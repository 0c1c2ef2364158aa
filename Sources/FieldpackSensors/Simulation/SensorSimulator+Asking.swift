package import FieldpackCore
import FieldpackHTTP

/// A simulated sensor can be asked without a network; the bytes are those of the network.
extension SensorSimulator: BiometricSensor {
  package func perform(_ request: SensorRequest) async throws(FieldpackError) -> SensorAnswer {
    let (method, path) = request.line
    let parts = path.split(separator: "/").map(String.init)
    let body = request.body(namespace: options.namespace) ?? []
    let response = await answer(method.rawValue, parts, body: body)
    guard response.status < 300, case .bytes(let bytes) = response.body else {
      throw FieldpackError(
        .unavailable,
        "\(request.operation.name): the sensor answers with status "
          + "\(response.status)", underlying: HTTPFailure.status(response.status))
    }
    if request.operation == .rawDownload, response.fields["Content-Type"] != "text/xml" {
      return SensorAnswer(
        SensorResult(.success, data: SpooledBytes(bytes)), httpStatus: response.status)
    }
    return SensorAnswer(try SensorResult(xml: bytes), httpStatus: response.status)
  }
}
