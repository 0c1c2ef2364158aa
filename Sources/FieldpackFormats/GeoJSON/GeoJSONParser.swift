import FieldpackCore
import FieldpackGeometry

/// One pass over a GeoJSON file: gives features in the shape asked for, and finds out on the way
/// which shape the file asks for.
///
/// A feature is read as a whole before it is given, so that one with a problem leaves no trace.
struct GeoJSONParser: ~Copyable {
  /// Where the values go that are no properties.
  struct Target {
    var schema: Schema?
    var givesFileIDs = false
    var idColumn: Int?
    var metadataColumn: Int?

    init(_ layer: FileLayer?) {
      schema = layer?.schema
      givesFileIDs = (layer?.ids ?? .ordinal) != .ordinal
      idColumn = schema?.columns.firstIndex { $0.isSourceID }
      metadataColumn = schema?.columns.firstIndex { $0.description == GeoJSONReader.metadataTitle }
    }
  }

  /// A feature or top-level object whose members are being read.
  struct Object {
    var type = GeoJSONType.missing
    var geometry: GeoJSONGeometryParser.Object
    var hasGeometry = false
    var hasFeatures = false
    var isTop: Bool
  }

  var scanner: JSONScanner
  var geometry = GeoJSONGeometryParser()
  var row: GeoJSONRow
  var properties: PropertyColumns
  var ids = FeatureIDs()
  var collected = CollectedIDs()
  var moments = MomentReader()
  let options: ReadOptions
  let target: Target

  // The feature being read.
  var featureNumber = 0
  var featureOffset = 0
  var problem: FeatureProblem?
  var sourceID = SourceID.absent
  /// The integer of the property `fid`, where it has no column.
  var propertyID: Int64 = 0
  /// There is an `id` member, whatever the ids are taken from.
  var hasID = false
  var hasMetadata = false
  /// The cells of the texts of the id and of the metadata.
  var idCell: RowCells.Cell?
  var metadataCell: RowCells.Cell?

  // What the file is like.
  var facts: GeoJSONFacts
  /// The members of features that are none of GeoJSON's, with their numbers.
  var foreignNames = NameTable()
  var foreign: [(name: String, count: Int)] = []

  // What this pass is for.
  /// Features of a collection have been given, so that the document cannot be taken back.
  var isStreaming = false
  /// What throws is not the text of the file but what is done with a feature.
  var isGiving = false
  /// The file has been read as far as it can be.
  var isBroken = false
  /// Ends the pass after so many features or bytes.
  var head: (features: Int, bytes: Int)?
  /// The pass is for the ids alone.
  var collectsIDs = false
  /// An id whose second occurrence is looked for.
  var watched: (id: Int64, count: Int, position: FilePosition?)?

  init(_ scanner: consuming JSONScanner, options: ReadOptions, layer: FileLayer?) {
    self.scanner = scanner
    self.options = options
    facts = GeoJSONFacts(options)
    target = Target(layer)
    row = GeoJSONRow(columnCount: layer?.schema.columns.count ?? 0)
    properties = PropertyColumns(given: layer?.schema, idColumn: options.idColumn)
    self.scanner.allowsRecordSeparators = true
    geometry.leavesOutShortParts = true
  }

  // MARK: One feature

  mutating func beginFeature() {
    featureOffset = scanner.offset
    problem = nil
    forgetIdentity()
    row.reset()
    properties.restart()
    geometry.reset()
  }

  mutating func forgetIdentity() {
    sourceID = .absent
    (hasID, hasMetadata) = (false, false)
    (idCell, metadataCell) = (nil, nil)
  }

  mutating func complain(_ message: String, at offset: Int) {
    if problem == nil { problem = FeatureProblem(message: message, offset: offset) }
  }

  /// Reads an element of `features`.
  mutating func parseFeature() throws(FieldpackError) {
    featureNumber += 1
    scanner.feature = featureNumber
    _ = try scanner.peek()
    beginFeature()
    guard try scanner.peek() == UInt8(ascii: "{") else {
      complain("a feature is not an object (RFC 7946 section 3.3)", at: scanner.offset)
      return try scanner.skipValue()
    }
    var object = Object(geometry: geometry.begin(at: scanner.offset), isTop: false)
    try scanner.enter()
    var isFirst = true
    while let name = try scanner.nextMember(&isFirst) {
      try parseMember(name, of: &object)
    }
    switch object.type {
    case .feature: break
    case .missing: complain("a feature has no type (RFC 7946 section 3.2)", at: featureOffset)
    case .unknown(let name):
      complain("the type of a feature is '\(name)' (RFC 7946 section 3.2)", at: featureOffset)
    default:
      complain("an element of features is no Feature (RFC 7946 section 3.3)", at: featureOffset)
    }
  }

  /// Takes the value of a member that is not `features` of a collection.
  mutating func parseMember(
    _ name: UnsafeBufferPointer<UInt8>, of object: inout Object
  ) throws(FieldpackError) {
    let member = GeoJSONMember(name)
    if member == .foreign || member == .features, !object.isTop || object.type == .feature {
      noteForeign(name)
    }
    _ = try scanner.peek()
    switch member {
    case .type: object.type = try parseType()
    case .geometry:
      object.hasGeometry = true
      try geometry.parse(&scanner)
    case .properties where object.type != .featureCollection: try parseProperties()
    case .id where object.type != .featureCollection: try parseID()
    case .metadata where !object.isTop || object.type == .feature: try parseMetadata()
    case .crs: try geometry.crs.parse(&scanner)
    case .coordinates where object.isTop:
      try geometry.parseCoordinates(&object.geometry, &scanner)
    case .geometries where object.isTop:
      try geometry.parseGeometries(&object.geometry, &scanner)
    default: try scanner.skipValue()
    }
  }

  private mutating func parseType() throws(FieldpackError) -> GeoJSONType {
    guard try scanner.peek() == UInt8(ascii: "\"") else {
      complain("a type is not a string (RFC 7946 section 3)", at: scanner.offset)
      try scanner.skipValue()
      return .unknown("")
    }
    return GeoJSONType(try scanner.scanString())
  }

  private mutating func noteForeign(_ name: UnsafeBufferPointer<UInt8>) {
    // The note names a few; counting a thousand kinds would only take memory.
    guard foreign.count < 16 else { return }
    foreignNames.restart()
    let number = foreignNames.number(of: name)
    if number == foreign.count { foreign.append((String(decoding: name, as: UTF8.self), 0)) }
    foreign[number].count += 1
  }

  private mutating func parseID() throws(FieldpackError) {
    idCell = nil
    let id: SourceID
    switch try scanner.peek() {
    case UInt8(ascii: "\""):
      let text = try scanner.scanString()
      if target.idColumn != nil { idCell = row.add(text) }
      id = .text
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
      try scanner.scanNumber()
      if target.idColumn != nil { idCell = row.add(scanner.numberText) }
      id = scanner.integer.map(SourceID.integer) ?? .text
    case UInt8(ascii: "n"):
      _ = try scanner.scanLiteral()
      id = .absent
    default:
      complain("an id is neither string nor number (RFC 7946 section 3.2)", at: scanner.offset)
      return try scanner.skipValue()
    }
    if case .absent = id { hasID = false } else { hasID = true }
    if options.idColumn == nil { sourceID = id }
  }

  /// Keeps SpatialConnect's `metadata`; one that is no object is nothing we know.
  private mutating func parseMetadata() throws(FieldpackError) {
    metadataCell = nil
    guard try scanner.peek() == UInt8(ascii: "{") else { return try scanner.skipValue() }
    hasMetadata = true
    if target.metadataColumn == nil { return try scanner.skipValue() }
    metadataCell = row.add(try scanner.compactValue())
  }

  // MARK: A feature that has been read

  /// What is wrong with the feature, if anything.
  ///
  /// Inlined, because a call copies the whole parser, which the benchmark of importing points shows.
  @inline(__always)
  var featureProblem: FeatureProblem? {
    if let problem { return problem }
    if let problem = geometry.problem { return problem }
    guard let column = options.idColumn else { return nil }
    if case .integer = sourceID { return nil }
    return FeatureProblem(
      message: "'\(column)' is no 64-bit integer, so it cannot be the feature's id",
      offset: featureOffset)
  }

  /// Fills the row and takes the feature into account.
  mutating func complete() throws(FieldpackError) {
    if let number = properties.idProperty { takePropertyID(number) }
    ids.note(sourceID)
    if collectsIDs { return collectID() }
    try searchDuplicates()
    row.id = .integer(rowID())
    if let column = target.idColumn { setText(column, idCell) }
    if let column = target.metadataColumn { setText(column, metadataCell) }
    if let type = geometry.type {
      facts.note(type, hasZ: geometry.hasZ)
      setGeometry(type)
    }
    properties.commit()
    if geometry.shortParts > 0, facts.firstShortPart == nil {
      facts.firstShortPart = featureNumber
    }
    if hasID { facts.hasIDMembers = true }
    if hasMetadata { facts.hasMetadata = true }
    facts.count += 1
  }

  /// Takes the property `fid` for the id of a feature without one.
  private mutating func takePropertyID(_ number: Int) {
    let property = properties.properties[number]
    guard !hasID, !property.current.isEmpty else { return }
    facts.hasPropertyIDs = true
    sourceID =
      switch (property.current, property.form) {
      case (.integer, .propertyID): .integer(propertyID)
      case (.integer, .integer): .integer(row.integer(at: property.columnIndex))
      default: .text
      }
  }

  private mutating func setText(_ column: Int, _ cell: RowCells.Cell?) {
    row.set(column, cell ?? RowCells.Cell())
  }

  private mutating func rowID() -> Int64 {
    guard target.givesFileIDs else { return Int64(facts.count + 1) }
    if ids.areUsable, case .integer(let id) = sourceID { return id }
    return ids.next()
  }

  private mutating func setGeometry(_ type: GeometryType) {
    guard let wanted = target.schema?.geometry?.type else { return }
    let isPromoted = type.multi == wanted
    guard wanted == .geometry || wanted == type || isPromoted else { return }
    row.geometry = geometry.bytes(promoted: isPromoted)
    row.envelope = geometry.envelope.isEmpty ? nil : geometry.envelope
  }

  var featurePosition: FilePosition {
    FilePosition(
      file: scanner.input?.name, byteOffset: featureOffset, feature: featureNumber)
  }
}
