public import FieldpackCore

/// A person whose biometric items are captured.
public struct Person: Hashable, Sendable {
  public var key: KeyTuple
  public var details: PersonDetails
  public var createdAt: Instant
  /// When the details were last edited.
  public var modifiedAt: Instant?

  public init(
    key: KeyTuple, details: PersonDetails = .init(), createdAt: Instant, modifiedAt: Instant? = nil
  ) {
    self.key = key
    self.details = details
    self.createdAt = createdAt
    self.modifiedAt = modifiedAt
  }
}

/// What is known of a person. All of it is personal data: it stands in no log and no error.
public struct PersonDetails: Hashable, Sendable {
  public var firstName: String?
  public var middleName: String?
  public var lastName: String?
  public var otherName: String?
  public var aliases: [String] = []
  /// As they were told, which may be no whole dates.
  public var datesOfBirth: [String] = []
  public var placesOfBirth: [String] = []
  /// One of ``PersonPickList/gender``.
  public var gender: String?
  public var hairColor: String?
  public var eyeColor: String?
  public var race: String?
  public var height: String?
  public var weight: String?
  public var notes: String?

  public init() {}

  /// The names in the order in which they are written; empty where there is none.
  public var name: String {
    [firstName, middleName, lastName, otherName].compactMap { $0 }.filter { !$0.isEmpty }
      .joined(separator: " ")
  }

  /// What was chosen from a list.
  public subscript(list: PersonPickList) -> String? {
    get { self[keyPath: Self.path(list)] }
    set { self[keyPath: Self.path(list)] = newValue }
  }

  private static func path(_ list: PersonPickList) -> WritableKeyPath<Self, String?> {
    switch list {
    case .gender: \.gender
    case .hairColor: \.hairColor
    case .eyeColor: \.eyeColor
    case .race: \.race
    }
  }

  /// - Throws: `.invalidArgument` for what is not on its list. The error does not say what it was.
  func check() throws(FieldpackError) {
    for list in PersonPickList.allCases {
      guard let choice = self[list], !list.values.contains(choice) else { continue }
      let choices = list.values.dropFirst().joined(separator: ", ")
      throw FieldpackError(
        .invalidArgument, "'\(list.rawValue)' is none of its choices (\(choices), or empty)",
        location: .init(layer: SensorLayers.person))
    }
  }
}

// MARK: Rows

extension PersonDetails {
  /// The columns of single texts.
  static var texts: KeyValuePairs<String, WritableKeyPath<PersonDetails, String?>> {
    [
      "first_name": \.firstName, "middle_name": \.middleName, "last_name": \.lastName,
      "other_name": \.otherName, "gender": \.gender, "hair_color": \.hairColor,
      "eye_color": \.eyeColor, "race": \.race, "height": \.height, "weight": \.weight,
      "notes": \.notes,
    ]
  }

  /// The columns of lists of texts, which are JSON.
  static var lists: KeyValuePairs<String, WritableKeyPath<PersonDetails, [String]>> {
    [
      "aliases_json": \.aliases, "dates_of_birth_json": \.datesOfBirth,
      "places_of_birth_json": \.placesOfBirth,
    ]
  }

  init(_ row: Feature) {
    for (name, path) in Self.texts { self[keyPath: path] = row[Column<String>(name)] }
    for (name, path) in Self.lists {
      self[keyPath: path] = JSONValue.texts(row[Column<String>(name)])
    }
  }

  var attributes: Attributes {
    var attributes = Attributes()
    for (name, path) in Self.texts {
      attributes[name] = self[keyPath: path].map(Value.text) ?? .null
    }
    for (name, path) in Self.lists {
      attributes[name] = .text(JSONValue(self[keyPath: path]).text)
    }
    return attributes
  }
}

extension JSONValue {
  /// The texts of a JSON array; other elements are passed over.
  static func texts(_ text: String?) -> [String] {
    guard let text, case .array(let items)? = try? JSONValueReader.read(text) else {
      return []
    }
    return items.compactMap(\.string)
  }
}

extension Person {
  /// A row of the layer `bio_person`.
  init?(_ row: Feature, of store: StoreID) {
    guard let id = row.id else { return nil }
    self.init(
      key: KeyTuple(store: store, layer: SensorLayers.person, feature: id),
      details: PersonDetails(row),
      createdAt: row[Column<Instant>("created_at")] ?? Instant(milliseconds: 0),
      modifiedAt: row[Column<Instant>("modified_at")])
  }
}
