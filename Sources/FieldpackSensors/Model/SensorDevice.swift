public import FieldpackCore

/// The sensor behind an item, with what it is to be configured to.
public struct SensorDevice: Hashable, Sendable {
  public var address: SensorAddress
  /// What the sensor can capture, as it says itself.
  public var modalities: [String] = []
  public var submodalities: [String] = []
  /// In seconds; 0 where it is not known.
  public var inactivityTimeout = 0
  public var mostRecentSessionId: String?
  /// The parameters as a JSON object, such as `{"modality":"Finger","submodality":"LeftSlap"}`.
  public var parametersJSON: String?
  public var lastEditedAt: Instant?

  public init(_ address: SensorAddress) { self.address = address }
}

extension SensorAddress {
  /// An address as a user types it: blanks around it are dropped, and one without a scheme gets
  /// `http://`.
  ///
  /// - Returns: `nil` where there is no address in it.
  public init?(typed text: String, name: String = "") {
    var words = Substring(text)
    while words.first?.isWhitespace == true { words.removeFirst() }
    while words.last?.isWhitespace == true { words.removeLast() }
    guard !words.isEmpty else { return nil }
    self.init(uri: words.contains("://") ? String(words) : "http://" + words, name: name)
  }
}

extension SensorDevice {
  /// What separates the texts of a list in one column.
  static let delimiter: Character = "|"

  /// What the sensor is to be configured to: ``parametersJSON`` without `stream`, which says where the
  /// sensor shows what it sees.
  package var configuration: [(name: String, value: JSONValue)] {
    guard let text = parametersJSON,
      case .object(let members)? = try? JSONValueReader.read(text)
    else { return [] }
    return members.filter { $0.name != "stream" }.map { ($0.name, $0.value) }
  }

  /// Sets what the sensor is to capture, and keeps its other parameters.
  mutating func aim(at modality: Modality, _ type: CaptureType) {
    var members: [JSONValue.Member] = [
      .init(name: "modality", value: .text(modality.title)),
      .init(name: "submodality", value: .text(type.parameterName)),
    ]
    if let text = parametersJSON,
      case .object(let others)? = try? JSONValueReader.read(text)
    {
      members += others.filter { $0.name != "modality" && $0.name != "submodality" }
    }
    parametersJSON = JSONValue.object(members).text
  }

  /// A row of the layer `bio_device`.
  init?(_ row: Feature) {
    guard let uri = row[Column<String>("uri")], !uri.isEmpty else { return nil }
    func list(_ name: String) -> [String] {
      (row[Column<String>(name)] ?? "").split(separator: Self.delimiter).map(String.init)
    }
    self.init(SensorAddress(uri: uri, name: row[Column<String>("name")] ?? ""))
    modalities = list("modalities")
    submodalities = list("submodalities")
    inactivityTimeout = row[Column<Int>("inactivity_timeout")] ?? 0
    mostRecentSessionId = row[Column<String>("most_recent_session_id")]
    parametersJSON = row[Column<String>("parameters_json")]
    lastEditedAt = row[Column<Instant>("last_edit_at")]
  }

  /// The values of a row; `edited` is when it is written.
  func attributes(edited: Instant) -> Attributes {
    func joined(_ texts: [String]) -> Value {
      let sound = texts.map { $0.filter { $0 != Self.delimiter } }.filter { !$0.isEmpty }
      return sound.isEmpty ? .null : .text(sound.joined(separator: String(Self.delimiter)))
    }
    return [
      "name": .text(address.name), "uri": .text(address.uri), "modalities": joined(modalities),
      "submodalities": joined(submodalities),
      "inactivity_timeout": .integer(Int64(max(0, inactivityTimeout))),
      "most_recent_session_id": mostRecentSessionId.map(Value.text) ?? .null,
      "parameters_json": parametersJSON.map(Value.text) ?? .null, "last_edit_at": .dateTime(edited),
    ]
  }
}
