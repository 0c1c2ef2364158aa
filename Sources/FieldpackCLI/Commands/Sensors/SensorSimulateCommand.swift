import FieldpackCore
import FieldpackSensors
import FieldpackServer

/// `fieldpack sensor simulate`.
struct SensorSimulateCommand: CommandBody {
  struct Options: OptionGroup {
    let address: ListenAddress?
    let modality: Modality?
    let submodalities: [CaptureType]
    let dialect: SensorSimulator.Dialect?
    let captureTime: Double?
    let preparationTime: Double?
    let preventionTime: Double?
    let pictureSide: Int?
    let faults: [SensorFault]

    init(_ reader: inout OptionReader) {
      address = reader.value(
        "listen", .address, help: "Where to listen; port 0 is a free one. (default: 127.0.0.1:8090)"
      )
      modality = reader.value(
        "modality", .modality, help: "What part of a person it captures. (default: Finger)")
      submodalities = reader.values(
        "submodality", .captureType,
        help: "What exactly it captures; may be repeated. (default: RightSlap)")
      dialect = reader.value(
        "dialect", .choice("dialect"),
        help: "Which reference service it behaves as. (default: net)")
      captureTime = reader.value(
        "capture-time", .number("seconds", atLeast: 0), help: "How long a capture takes.")
      preparationTime = reader.value(
        "prepare-time", .number("seconds", atLeast: 0),
        help: "How long a capture is prepared before it can be downloaded.")
      preventionTime = reader.value(
        "steal-after", .number("seconds", atLeast: 0),
        help: "How long a lock cannot be stolen. (default: 60)")
      pictureSide = reader.value(
        "picture-side", .integer("pixels", in: 1...4096),
        help: "How wide and high its pictures are. (default: 480)")
      faults = reader.values("fault", .fault, help: "What goes wrong; may be repeated.")
    }
  }

  let invocation: Invocation
  let options: Options

  func run() async throws(FieldpackError) -> Int32 {
    let server = SensorSimulatorServer(SensorSimulator(settings))
    let address = try server.listen(on: options.address ?? ListenAddress(port: 8090))
    do throws(FieldpackError) {
      if invocation.isJSON {
        try invocation.print(["address": .text("http://\(address)/")])
      } else {
        try invocation.print("a simulated sensor is at http://\(address)/\n")
      }
      try invocation.output.flush()
    } catch {
      await server.close()
      throw error
    }
    while !Task.isCancelled { try? await Task.sleep(for: .seconds(3600)) }
    await server.close()
    return ExitStatus.success
  }

  private var settings: SensorSimulator.Options {
    let types = options.submodalities.map(\.parameterName)
    var settings = SensorSimulator.Options(
      modality: (options.modality ?? options.submodalities.first?.modality ?? .finger).title,
      submodality: types.isEmpty ? ["RightSlap"] : types)
    settings.dialect = options.dialect ?? .net
    if settings.dialect == .java { settings.namespace = SensorNamespace.all[3] }
    if let time = options.captureTime { settings.captureTime = .seconds(time) }
    if let time = options.preparationTime { settings.preparationTime = .seconds(time) }
    if let time = options.preventionTime { settings.preventionPeriod = .seconds(time) }
    settings.faults = options.faults
    settings.picture.longerSide = options.pictureSide ?? 480
    return settings
  }
}

extension ValueForm where Value == SensorFault {
  fileprivate static var fault: ValueForm {
    ValueForm("fault") { (text) throws(ValueError) -> SensorFault in
      do throws(FieldpackError) {
        return try SensorFault(text)
      } catch { throw ValueError("is no fault, such as capture=sensorFailure:2") }
    }
  }
}
