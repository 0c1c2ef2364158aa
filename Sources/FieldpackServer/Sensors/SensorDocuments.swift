import Fieldpack
import FieldpackCore
import FieldpackSensors

/// What the page of an operator shows and sends, as JSON.
enum SensorDocuments {
  // MARK: Writing

  /// What can be chosen.
  static let words = JSONValue.members([
    "modalities": .array(
      Modality.allCases.map { modality in
        .members([
          "name": .text(modality.title),
          "types": .array(
            modality.captureTypes.map {
              .members(["name": .text($0.parameterName), "title": .text($0.title)])
            }),
        ])
      }),
    "pickLists": .array(
      PersonPickList.allCases.map { list in
        .members([
          "name": .text(member(list)), "title": .text(list.title), "values": JSONValue(list.values),
        ])
      }),
  ])

  /// - Parameter items: the documents of the person's items.
  static func person(_ person: Person, _ items: [JSONValue]) -> JSONValue {
    let details = Self.details(person.details)
    return .members([
      "id": number(person.key), "name": .text(person.details.name), "details": details,
      "tag": .text(ItemTag.tag(of: Array(details.text.utf8))), "items": .array(items),
    ])
  }

  /// What is known of a person, whose bytes give the entity tag.
  static func details(_ details: PersonDetails) -> JSONValue {
    var members: [JSONValue.Member] = []
    for (name, path) in texts {
      if let text = details[keyPath: path] { members.append(.init(name: name, value: .text(text))) }
    }
    for (name, path) in lists {
      members.append(.init(name: name, value: JSONValue(details[keyPath: path])))
    }
    return .object(members)
  }

  static func item(_ item: Item, _ button: SensorDesk.Button) -> JSONValue {
    .members([
      "id": number(item.key), "person": number(item.person), "index": JSONValue(item.index),
      "title": .text(item.title), "modality": item.modality.map { .text($0) },
      "submodality": item.submodality.map { .text($0) },
      "device": item.device.map { device($0) }, "hasData": .boolean(item.hasData),
      "contentType": item.contentType.map { .text($0) },
      "isPicture": .boolean(pictures.contains(item.contentType ?? "")),
      "captureId": item.captureId.map { .text($0) },
      "parts": JSONValue(item.captureType?.annotatedParts ?? [""]),
      "annotations": .array(item.annotations.map { .boolean($0) }),
      "notes": item.notes.map { .text($0) }, "state": .text("\(button.state)"),
      "words": .text(button.words),
    ])
  }

  static func device(_ device: SensorDevice) -> JSONValue {
    .members(["uri": .text(device.address.uri), "name": .text(device.address.name)])
  }

  static func number(_ key: KeyTuple) -> JSONValue {
    if case .integer(let number) = key.feature { .integer(number) } else { .null }
  }

  /// The types of pictures that browsers show.
  static let pictures: Set<String> = ["image/png", "image/jpeg", "image/bmp"]

  // MARK: Reading

  /// The details of a person, all of which a form sends.
  static func details(_ body: JSONValue) throws(FieldpackError) -> PersonDetails {
    var details = PersonDetails()
    for (name, path) in texts {
      guard let text = try text(name, body), !text.isEmpty else { continue }
      details[keyPath: path] = text
    }
    for (name, path) in lists {
      guard let value = body[name] else { continue }
      guard case .array(let values) = value, values.allSatisfy({ $0.string != nil }) else {
        throw FieldpackError(.invalidData, "'\(name)' is no list of texts")
      }
      details[keyPath: path] = values.compactMap(\.string)
    }
    return details
  }

  /// What an item is to capture, and by what sensor.
  static func draft(_ body: JSONValue) throws(FieldpackError) -> ItemDraft {
    guard let modality = try text("modality", body).flatMap(Modality.init),
      let type = try text("submodality", body).flatMap(CaptureType.init(named:)),
      modality.captureTypes.contains(type)
    else {
      throw FieldpackError(
        .invalidData,
        "'modality' and 'submodality' do not name a capture, such as Finger and LeftSlap")
    }
    var draft = ItemDraft(modality: modality, captureType: type)
    if let device = body["device"], device != .null {
      guard
        let address = SensorAddress(
          typed: try text("uri", device) ?? "", name: try text("name", device) ?? "")
      else { throw FieldpackError(.invalidData, "the sensor has no address") }
      draft.device = SensorDevice(address)
    }
    return draft
  }

  static func annotations(_ body: JSONValue) throws(FieldpackError) -> [Bool]? {
    guard let value = body["annotations"] else { return nil }
    guard case .array(let flags) = value, flags.count <= 4 else {
      throw FieldpackError(.invalidData, "'annotations' is no list of four marks at most")
    }
    var marks: [Bool] = []
    for flag in flags {
      guard case .boolean(let mark) = flag else {
        throw FieldpackError(.invalidData, "'annotations' holds what is neither true nor false")
      }
      marks.append(mark)
    }
    return marks
  }

  /// The place of an item in its row.
  static func index(_ body: JSONValue) throws(FieldpackError) -> Int? {
    guard let value = body["index"] else { return nil }
    guard case .integer(let number) = value, number >= 0 else {
      throw FieldpackError(.invalidData, "'index' is no number from 0 on")
    }
    return Int(number)
  }

  static func text(_ name: String, _ body: JSONValue) throws(FieldpackError) -> String? {
    guard let value = body[name], value != .null else { return nil }
    guard let text = value.string else {
      throw FieldpackError(.invalidData, "'\(name)' is no text")
    }
    return text
  }

  private static var texts: [(String, WritableKeyPath<PersonDetails, String?>)] {
    [
      ("firstName", \.firstName), ("middleName", \.middleName), ("lastName", \.lastName),
      ("otherName", \.otherName), ("height", \.height), ("weight", \.weight), ("notes", \.notes),
      ("gender", \.gender), ("hairColor", \.hairColor), ("eyeColor", \.eyeColor), ("race", \.race),
    ]
  }

  private static var lists: [(String, WritableKeyPath<PersonDetails, [String]>)] {
    [
      ("aliases", \.aliases), ("datesOfBirth", \.datesOfBirth),
      ("placesOfBirth", \.placesOfBirth),
    ]
  }

  private static func member(_ list: PersonPickList) -> String {
    switch list {
    case .gender: "gender"
    case .hairColor: "hairColor"
    case .eyeColor: "eyeColor"
    case .race: "race"
    }
  }
}
