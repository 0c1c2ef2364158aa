import FieldpackCore
import FieldpackSensors

extension FieldpackTool {
  static var sensorCommand: Command {
    Command(
      "sensor", abstract: "Ask biometric sensors, and simulate them.",
      discussion: """
        A sensor is a service of WS-Biometric Devices (NIST SP 500-288, OASIS WS-BD 1.0), found by \
        its address, or a camera of this machine, such as cam:///dev/video0.
        """,
      subcommands: [sensorInfoCommand, sensorCheckCommand, sensorSimulateCommand],
      family: sensorsFamily)
  }

  private static var sensorInfoCommand: Command {
    Command(
      "info", abstract: "Show what a sensor says of itself.",
      examples: [
        "fieldpack sensor info http://192.0.2.7:8000/Service",
        "fieldpack sensor info 127.0.0.1:8090 --json",
      ], body: SensorInfoCommand.self)
  }

  private static var sensorCheckCommand: Command {
    Command(
      "check", abstract: "Check whether a sensor can capture something.",
      discussion: """
        The command ends with status 0 where it can, and with 1 where it cannot, or where no sensor \
        answers.
        """,
      examples: [
        "fieldpack sensor check 127.0.0.1:8090 --modality Finger --submodality RightSlap"
      ], body: SensorCheckCommand.self)
  }

  private static var sensorSimulateCommand: Command {
    Command(
      "simulate", abstract: "Serve a sensor that does not exist, for trying out and for tests.",
      discussion: """
        The service behaves as the reference services of NIST do: sessions, the lock and when it can \
        be stolen, busy operations, captures that are prepared, and a live preview. Its pictures \
        are rings. It runs until it is interrupted.

        A fault is OPERATION=KIND, and after a colon how often: capture=sensorFailure:2, \
        any=503:5%. Kinds are the statuses of the specification, a status of HTTP, and broken, \
        bomb, endless, lost and slow.
        """,
      examples: [
        "fieldpack sensor simulate",
        "fieldpack sensor simulate --modality Face --submodality Face2d --listen 127.0.0.1:0",
        "fieldpack sensor simulate --fault capture=sensorFailure:2 --prepare-time 3",
      ], body: SensorSimulateCommand.self)
  }
}

/// `fieldpack sensor info`.
private struct SensorInfoCommand: CommandBody {
  struct Options: OptionGroup {
    @Required var uri: String

    init(_ reader: inout OptionReader) { _uri = reader.sensor() }
  }

  let invocation: Invocation
  let options: Options

  func run() async throws(FieldpackError) -> Int32 {
    let information = try await SensorInformation(options.uri)
    if invocation.isJSON {
      try invocation.print([
        "uri": .text(options.uri), "namespace": JSONValue(information.namespace),
        "parameters": .array(information.metadata.items.map(\.document)),
      ])
      return ExitStatus.success
    }
    try invocation.printTable(
      [TableColumn("parameter"), TableColumn("type"), TableColumn("value"), TableColumn("may be")],
      information.metadata.items.map { item in
        let parameter = information.metadata.parameter(item.key)
        let allowed = parameter?.allowedValues.map { $0.map(\.shown).joined(separator: ", ") }
        return [
          item.key, parameter?.type ?? "", (parameter?.defaultValue ?? item.value).shown,
          parameter?.isReadOnly == true ? "read only" : allowed ?? "",
        ]
      })
    return ExitStatus.success
  }
}

/// What a sensor says of itself.
private struct SensorInformation {
  let metadata: SensorDictionary
  let namespace: String?

  init(_ uri: String) async throws(FieldpackError) {
    let sensor = try SensorClient.sensor(at: uri, cameras: .all)
    let result = try await sensor.perform(SensorRequest(.getCommonInfo)).result
    guard result.isSuccess else {
      throw FieldpackError(.unavailable, "the sensor does not tell: \(result.text)")
    }
    metadata = result.metadata ?? [:]
    namespace = result.namespace
  }
}

extension SensorDictionary.Item {
  fileprivate var document: JSONValue {
    guard case .parameter(let parameter) = value else {
      return ["name": .text(key), "value": value.json]
    }
    return .members([
      "name": .text(key), "type": parameter.type.map { .text($0) },
      "read_only": .boolean(parameter.isReadOnly ?? false), "value": parameter.defaultValue.json,
      "allowed": parameter.allowedValues.map { .array($0.map(\.json)) },
    ])
  }
}

extension SensorValue {
  fileprivate var shown: String {
    switch self {
    case .text(let text, _): return text
    case .resource(let resource): return resource.uri
    case .null: return ""
    default: return json.text
    }
  }
}

/// `fieldpack sensor check`.
private struct SensorCheckCommand: CommandBody {
  struct Options: OptionGroup {
    @Required var uri: String
    let modality: Modality?
    let submodality: CaptureType?

    init(_ reader: inout OptionReader) {
      _uri = reader.sensor()
      modality = reader.value("modality", .modality, help: "What part of a person, such as Finger.")
      submodality = reader.value(
        "submodality", .captureType, help: "What exactly is captured, such as RightSlap.")
    }
  }

  let invocation: Invocation
  let options: Options

  func run() async throws(FieldpackError) -> Int32 {
    var check = SensorCheck.notFound
    do throws(FieldpackError) {
      let information = try await SensorInformation(options.uri).metadata
      check = SensorCheck(information, for: options.modality, options.submodality)
    } catch {
      guard error.code != .invalidArgument, error.code != .interrupted else { throw error }
    }
    if invocation.isJSON {
      try invocation.print(["uri": .text(options.uri), "check": .text(check.name)])
    } else {
      try invocation.print(check.text + "\n")
    }
    return check == .successful ? ExitStatus.success : ExitStatus.failure
  }
}

extension OptionReader {
  mutating func sensor() -> Required<String> {
    argument(.text("address"), help: "The address of the sensor; http:// may be left out.")
  }
}

extension ValueForm where Value == Modality {
  static var modality: ValueForm {
    ValueForm("modality", completion: .choices(Modality.allCases.map(\.title))) {
      (text) throws(ValueError) -> Modality in
      guard let modality = Modality(text) else {
        throw .notAmong(Modality.allCases.map(\.title), text)
      }
      return modality
    }
  }
}
