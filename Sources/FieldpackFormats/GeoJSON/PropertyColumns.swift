import FieldpackCore

/// The kinds of values that a property has had.
struct PropertyKinds: OptionSet, Sendable {
  let rawValue: UInt16

  static let null = PropertyKinds(rawValue: 1)
  static let boolean = PropertyKinds(rawValue: 2)
  static let integer = PropertyKinds(rawValue: 4)
  static let real = PropertyKinds(rawValue: 8)
  /// An integer of more than 64 bits.
  static let wideInteger = PropertyKinds(rawValue: 16)
  /// A number beyond the range of doubles.
  static let hugeNumber = PropertyKinds(rawValue: 32)
  static let text = PropertyKinds(rawValue: 64)
  static let date = PropertyKinds(rawValue: 128)
  static let dateTime = PropertyKinds(rawValue: 256)
  static let nested = PropertyKinds(rawValue: 512)

  /// The type of a column that holds all of these; TEXT where there are only nulls.
  var columnType: ColumnType {
    let kinds = subtracting(.null)
    if kinds.isEmpty { return .text() }
    if kinds.contains(.nested) { return .json }
    if kinds == .boolean { return .boolean }
    if kinds == .integer { return .integer }
    if kinds.isSubset(of: [.integer, .real, .wideInteger]) { return .double }
    if kinds == .dateTime { return .dateTime }
    if kinds == .date { return .date }
    return .text()
  }
}

/// How a value goes into its column.
enum PropertyForm {
  /// The layer asked for has no such column.
  case absent
  case boolean, integer, real, text, json, date, dateTime
  /// The integers are the feature ids.
  case featureID
  /// The integers may be the feature ids.
  case propertyID

  init(_ type: ColumnType) {
    switch type {
    case .boolean: self = .boolean
    case .tinyInt, .smallInt, .mediumInt, .integer: self = .integer
    case .float, .double: self = .real
    case .text, .other: self = .text
    case .json: self = .json
    case .date: self = .date
    case .dateTime: self = .dateTime
    case .blob: self = .absent
    }
  }
}

/// The properties of a file with the columns they go to.
struct PropertyColumns: ~Copyable {
  struct Property {
    /// As in the file.
    var name: String
    /// The name of its column.
    var column: String
    /// Index of the column in the layer asked for; meaningless where `form` is `absent`.
    var columnIndex = 0
    var form = PropertyForm.absent
    /// What features that were given have held.
    var kinds: PropertyKinds = []
    /// What the feature being read holds; empty where it has no such member.
    var current: PropertyKinds = []
  }

  private var names = NameTable()
  var properties: [Property] = []
  /// The properties of the feature being read.
  private var touched: [Int] = []
  /// Lowercase names of columns, which are no longer free.
  private var taken: Set<String> = ["fid", "geom"]
  private let given: Schema?
  private let idColumn: String?
  /// The number of the property whose integers are the feature ids where there are no others.
  private(set) var idProperty: Int?
  /// The name that QGIS and GDAL give the ids of a GeoPackage in GeoJSON.
  static let idName = "fid"

  /// SQLite's limit of 2,000 less the columns that a layer has of its own.
  static let maximumCount = 1990

  init(given: Schema?, idColumn: String?) {
    self.given = given
    self.idColumn = idColumn
  }

  mutating func restart() {
    names.restart()
    for number in touched { properties[number].current = [] }
    touched.removeAll(keepingCapacity: true)
  }

  /// The number of the property with this name; `nil` where there are too many.
  @inline(__always)
  mutating func number(of name: UnsafeBufferPointer<UInt8>) -> Int? {
    let number = names.number(of: name)
    if number == properties.count { register(String(decoding: name, as: UTF8.self)) }
    return number < Self.maximumCount ? number : nil
  }

  @inline(__always)
  mutating func note(_ kinds: PropertyKinds, of number: Int) {
    if properties[number].current.isEmpty { touched.append(number) }
    // Of members with one name the last counts.
    properties[number].current = kinds
  }

  /// The feature being read is given.
  mutating func commit() {
    for number in touched { properties[number].kinds.formUnion(properties[number].current) }
  }

  private mutating func register(_ name: String) {
    var property = Property(name: name, column: "")
    if name == idColumn {
      property.form = .featureID
    } else {
      property.column = free(name)
      if let (index, form) = target(of: property.column) {
        (property.columnIndex, property.form) = (index, form)
      }
      if name == Self.idName, idColumn == nil {
        idProperty = properties.count
        if property.form == .absent { property.form = .propertyID }
      }
    }
    properties.append(property)
  }

  private func target(of column: String) -> (Int, PropertyForm)? {
    guard let given,
      let index = given.columns.firstIndex(where: {
        $0.name == column && !$0.isSourceID && $0.description != GeoJSONReader.metadataTitle
      })
    else { return nil }
    return (index, PropertyForm(given.columns[index].type))
  }

  /// `name`, or with the first number that makes it differ from every other whatever their case.
  private mutating func free(_ name: String) -> String {
    Self.usable(name).numbered { taken.insert($0.lowercased()).inserted }
  }

  /// SQL has no empty names and none with NUL.
  private static func usable(_ name: String) -> String {
    if name.isEmpty { return "property" }
    return name.utf8.contains(0) ? name.split(separator: "\0").joined(separator: "_") : name
  }

  /// The columns that the features given ask for.
  ///
  /// - Parameter withoutIDs: whether the property `fid` has the feature ids and is no column.
  func columns(withoutIDs: Bool) -> [ColumnDefinition] {
    columnProperties(withoutIDs).map { ColumnDefinition($0.column, $0.kinds.columnType) }
  }

  private func columnProperties(_ withoutIDs: Bool) -> [Property] {
    properties.filter {
      !$0.kinds.isEmpty && $0.form != .featureID && !(withoutIDs && $0.name == Self.idName)
    }
  }

  /// A name for a column that is no property.
  func freeName(_ name: String) -> String {
    var names = Set(columns(withoutIDs: false).map { $0.name.lowercased() })
    names.formUnion(["fid", "geom"])
    return name.numbered { !names.contains($0) }
  }

  /// What happened to names and numbers, in words.
  func notes(withoutIDs: Bool) -> [String] {
    var notes: [String] = []
    for property in columnProperties(withoutIDs) {
      if property.column != property.name {
        notes.append("property '\(property.name)' is column '\(property.column)'")
      }
      if property.kinds.contains(.wideInteger), property.kinds.columnType == .double {
        notes.append("'\(property.column)' has integers of more than 64 bits, which become REAL")
      }
    }
    return notes
  }
}
