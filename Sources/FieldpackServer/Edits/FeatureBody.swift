import FieldpackCore
import FieldpackFormats
import FieldpackGeometry

/// A feature in the body of a request: GeoJSON, or a patch of it.
struct FeatureBody: Sendable {
  enum Form {
    /// A new feature. An id in the body is ignored where the server chooses the id.
    case new
    /// All of the feature with that id.
    case whole(FeatureID)
    /// The members to change of the feature with that id (RFC 7396).
    case patch(FeatureID)

    fileprivate var isPatch: Bool { if case .patch = self { true } else { false } }
  }

  /// The id that a new feature brings, where the layer gives none.
  var id: FeatureID?
  /// The values by the names of their columns, without generated columns and those that the body does not
  /// name.
  var attributes: Attributes = [:]
  /// Patches of columns that hold JSON objects.
  var documents: [(column: String, patch: JSONValue)] = []
  /// The geometry of the body, with x before y.
  var geometry = GeometryUpdate.keep
  /// The geometry in the system of the layer.
  var stored = GeometryUpdate.keep

  // MARK: Reading

  /// The features of a body, and whether the body is a FeatureCollection.
  ///
  /// - Throws: `.invalidArgument`, with the byte or the feature.
  static func features(
    in body: [UInt8], for layer: ServedLayer, isSwapped: Bool
  ) throws(FieldpackError) -> (features: [FeatureBody], isCollection: Bool) {
    let document = try json(body)
    guard document["type"] == "FeatureCollection" else {
      let feature = try FeatureBody(document, .new, for: layer, isSwapped: isSwapped)
      return ([feature], false)
    }
    guard case .array(let items)? = document["features"] else {
      throw mistake("a FeatureCollection has an array 'features'")
    }
    var features: [FeatureBody] = []
    for (index, item) in items.enumerated() {
      do throws(FieldpackError) {
        features.append(try FeatureBody(item, .new, for: layer, isSwapped: isSwapped))
      } catch {
        throw error.adding(position: FilePosition(feature: index + 1))
      }
    }
    return (features, true)
  }

  /// The JSON of a body.
  ///
  /// - Throws: `.invalidArgument` with the position of the byte where the body is not JSON.
  static func json(_ body: [UInt8]) throws(FieldpackError) -> JSONValue {
    // Bytes that are not UTF-8 would be stored as other characters.
    guard String(validating: body, as: UTF8.self) != nil else {
      throw mistake("the body is not UTF-8")
    }
    let read = body.withUnsafeBufferPointer { bytes in
      Result { () throws(JSONMistake) in try JSONValueReader.read(bytes) }
    }
    switch read {
    case .success(let value): return value
    case .failure(let mistake):
      throw FieldpackError(
        .invalidArgument, "the body is no JSON: \(mistake.message)",
        position: FilePosition(byteOffset: mistake.offset))
    }
  }

  private static func mistake(_ text: String) -> FieldpackError {
    FieldpackError(.invalidArgument, text)
  }

  /// Reads a feature, or a patch of one.
  ///
  /// - Parameter isSwapped: whether positions have y before x.
  /// - Throws: `.invalidArgument`.
  init(
    _ document: JSONValue, _ form: Form, for layer: ServedLayer, isSwapped: Bool
  ) throws(FieldpackError) {
    guard case .object = document else {
      throw Self.mistake("the body is \(document.kind), and not a GeoJSON Feature")
    }
    try Self.check(document, form)
    try Self.checkID(document["id"], form)
    if case .new = form, layer.takesIDs { id = try Self.id(of: document, in: layer) }
    try readProperties(document["properties"], form, for: layer)
    if let geometry = document["geometry"] {
      try readGeometry(geometry, for: layer, isSwapped: isSwapped)
    }
  }

  /// Checks the members that every Feature has (RFC 7946, 3.2).
  private static func check(_ document: JSONValue, _ form: Form) throws(FieldpackError) {
    let type = document["type"]
    guard type == "Feature" || form.isPatch && type == nil else {
      throw mistake("the body is no GeoJSON Feature: its member 'type' is not \"Feature\"")
    }
    guard !form.isPatch else { return }
    for name in ["geometry", "properties"] where document[name] == nil {
      throw mistake("a Feature has a member '\(name)', which may be null")
    }
  }

  /// Checks that the id in the body is the id of the address.
  private static func checkID(_ id: JSONValue?, _ form: Form) throws(FieldpackError) {
    guard let id else { return }
    if id == .null, !form.isPatch { return }
    let text = try text(ofID: id)
    switch form {
    case .new: break
    case .whole(let own), .patch(let own):
      guard text == own.description else {
        throw mistake("the id in the body is '\(text)', and the address has \(own)")
      }
    }
  }

  private static func text(ofID id: JSONValue) throws(FieldpackError) -> String {
    switch id {
    case .text(let given): given
    case .integer(let number): String(number)
    case .real(let number): "\(number)"
    default: throw mistake("the id of a feature is neither a text nor a number")
    }
  }

  /// The id of a new feature: the member `id`, or the property that is the id.
  private static func id(
    of document: JSONValue, in layer: ServedLayer
  ) throws(FieldpackError) -> FeatureID? {
    var given = [document["id"]].compactMap(\.self)
    if case .object(let members)? = document["properties"] {
      given += members.filter { layer.schema.columnIndex($0.name) == nil }
        .filter { layer.idName($0.name) != nil }.map(\.value)
    }
    var texts: Set<String> = []
    for id in given where id != .null { texts.insert(try text(ofID: id)) }
    guard texts.count <= 1 else { throw mistake("the feature has more than one id") }
    return texts.first.map { .text($0) }
  }

  // MARK: Properties

  private mutating func readProperties(
    _ properties: JSONValue?, _ form: Form, for layer: ServedLayer
  ) throws(FieldpackError) {
    switch properties {
    case nil: break
    case .null?:
      guard form.isPatch else { break }
      for column in layer.settableColumns { attributes[column.name] = .null }
    case .object(let members)?:
      for member in members { try readProperty(member, form, for: layer) }
    case let other?: throw Self.mistake("'properties' is \(other.kind), and not an object or null")
    }
  }

  private mutating func readProperty(
    _ member: JSONValue.Member, _ form: Form, for layer: ServedLayer
  ) throws(FieldpackError) {
    let schema = layer.schema
    guard let index = schema.columnIndex(member.name) else {
      guard layer.idName(member.name) != nil else {
        let known = schema.columns.map(\.name)
        throw FieldpackError(
          .invalidArgument,
          "collection '\(layer.collectionID)' has no property '\(member.name)'"
            + NearNames.question(member.name, in: known))
      }
      switch form {
      case .whole(let own) where member.value != own.jsonValue && member.value != .null,
        .patch(let own) where member.value != own.jsonValue:
        throw Self.mistake("property '\(member.name)' is the id of the feature, which stays")
      default: return
      }
    }
    let column = schema.columns[index]
    // Clients send back generated columns that they got.
    guard !column.isGenerated else { return }
    if form.isPatch, column.type == .json, case .object = member.value {
      documents.append((column.name, member.value))
    } else {
      attributes[column.name] = try PropertyValue.value(member.value, of: column)
    }
  }

  // MARK: Geometry

  private mutating func readGeometry(
    _ value: JSONValue, for layer: ServedLayer, isSwapped: Bool
  ) throws(FieldpackError) {
    if value == .null {
      if layer.schema.geometry != nil { geometry = .set(nil) }
      return
    }
    guard let column = layer.schema.geometry else {
      throw Self.mistake("the features of collection '\(layer.collectionID)' have no geometry")
    }
    geometry = .set(try Self.geometry(value, for: column, isSwapped: isSwapped))
  }

  /// A geometry as the column takes it, with x before y.
  static func geometry(
    _ value: JSONValue, for column: GeometryColumn, isSwapped: Bool
  ) throws(FieldpackError) -> Geometry {
    var bytes: [UInt8] = []
    value.append(to: &bytes)
    var read: Geometry
    do throws(FieldpackError) { read = try Geometry(geoJSON: bytes) } catch {
      throw mistake("the geometry is no GeoJSON geometry: \(error.message)")
    }
    if isSwapped { read = read.turned }
    guard !column.type.accepts(read.type), let multi = read.type.multi, column.type.accepts(multi)
    else { return read }
    return read.promotedToMulti()
  }
}

extension FeatureID {
  fileprivate var jsonValue: JSONValue {
    switch self {
    case .integer(let number): .integer(number)
    case .text(let text): .text(text)
    }
  }
}

extension ServedLayer {
  /// Whether the layer's features can be changed.
  var isEditable: Bool { !layer.isView && schema.idColumn != nil }

  /// The id that a part of an address spells; `nil` for what no feature of the layer can have.
  func featureID(_ text: String) -> FeatureID? {
    hasTextIDs ? .text(text) : Int64(text).map { .integer($0) }
  }

  var settableColumns: [ColumnDefinition] { schema.columns.filter { !$0.isGenerated } }
}
