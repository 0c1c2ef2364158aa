public import FieldpackCore
import FieldpackGeometry

/// Reads GeoJSON (RFC 7946): a FeatureCollection, a Feature, a geometry, or a sequence of them, one
/// a line or after record separators (RFC 8142).
///
/// Memory holds a window of the file and one feature, however long the file is. The legacy member
/// `crs` counts, `bbox` does not, and members of older formats are ignored. What RFC 7946 does not
/// allow is a problem of its feature, named with feature number and byte; of what it only advises
/// against, rings left open are closed and positions of more than three numbers cut. A line of one
/// position in a MultiLineString, an inner ring of fewer than four, and a polygon of a MultiPolygon
/// with such an outer ring are left out, with a note.
///
/// Where no feature has an `id`, and each has another integer in a property `fid`, as in files of
/// QGIS, these are the feature ids, and the property is written again.
///
/// A file that breaks off is an error; ``ReadOptions/skipsErrors`` gives the features before that.
public struct GeoJSONReader: FileReader {
  /// The description of the column that holds SpatialConnect's `metadata` members.
  public static let metadataTitle = "SpatialConnect metadata"

  private let input: ByteInput
  private let options: ReadOptions
  /// What is held in memory at most.
  var limits = JSONScanner.Limits()
  /// What a look at all ids found, kept for the next pass.
  private var duplicate = FeatureIDs.DuplicateSearch.notNeeded

  public init(_ input: ByteInput, options: ReadOptions) {
    self.input = input
    self.options = options
  }

  public mutating func assume() throws(FieldpackError) -> [FileLayer] {
    var parser = self.parser(nil)
    parser.head = (features: 1000, bytes: 1 << 20)
    var sink = NoSink()
    try parser.run(into: &sink)
    duplicate = parser.ids.duplicate
    return [parser.layer()]
  }

  /// - Precondition: `layers` has one layer.
  public mutating func read(
    as layers: [FileLayer], into sink: inout some FeatureSink
  ) throws(FieldpackError) -> FileReadResult {
    guard let layer = layers.first, layers.count == 1 else {
      throw FieldpackError(.invalidArgument, "GeoJSON has one layer, not \(layers.count)")
    }
    var parser = self.parser(layer)
    parser.scanner.progress = options.progress
    try sink.begin(layer.schema)
    try parser.run(into: &sink)
    duplicate = parser.ids.duplicate
    return parser.result()
  }

  private func parser(_ layer: FileLayer?) -> GeoJSONParser {
    var parser = GeoJSONParser(
      JSONScanner(input, limits: limits), options: options, layer: layer)
    parser.ids.duplicate = duplicate
    return parser
  }
}

extension GeoJSONParser {
  /// The layer that the features read so far ask for.
  func layer() -> FileLayer {
    let ids = idSource
    let hasFileIDs = ids != .ordinal
    var columns = properties.columns(withoutIDs: hasPropertyIDs)
    if facts.hasIDMembers, options.idColumn != nil || !hasFileIDs {
      var column = ColumnDefinition(properties.freeName("id"), .text())
      column.isSourceID = true
      columns.insert(column, at: 0)
    }
    if facts.hasMetadata {
      columns.append(
        ColumnDefinition(
          properties.freeName("metadata"), .json, description: GeoJSONReader.metadataTitle))
    }
    let column = GeometryColumn(
      type: facts.geometryType, srs: options.sourceSRS ?? geometry.crs.srs ?? .wgs84, z: facts.z)
    var schema = Schema(layer: options.layer, geometry: column, columns: columns)
    schema.idIsAttribute = hasPropertyIDs
    return FileLayer(schema: schema, ids: ids)
  }

  private var idSource: FileLayer.IDSource {
    guard ids.areUsable else { return .ordinal }
    guard facts.hasPropertyIDs, let number = properties.idProperty else { return .file }
    // Where some features have an `id` and others this property, the ids are of two origins.
    return facts.hasIDMembers
      ? .ordinal : .property(column: properties.properties[number].column)
  }

  private var hasPropertyIDs: Bool {
    if case .property = idSource { true } else { false }
  }

  func result() -> FileReadResult {
    FileReadResult(
      layers: [layer()], counts: [options.layer: facts.count], skipped: facts.skipped,
      notes: notes().map { Note($0) })
  }

  private func notes() -> [String] {
    var notes = properties.notes(withoutIDs: hasPropertyIDs)
    if facts.typeless > 0 { notes.append("objects without a type, left out: \(facts.typeless)") }
    if facts.commas > 0 { notes.append("commas between documents, left out: \(facts.commas)") }
    if facts.emptyArrays > 0 {
      notes.append("features with an empty array for properties: \(facts.emptyArrays)")
    }
    if geometry.closedRings > 0 {
      notes.append(
        "rings that were open and are closed (RFC 7946 section 3.1.6): \(geometry.closedRings)")
    }
    if let first = facts.firstShortPart {
      notes.append(
        "parts of geometries with too few positions are left out (RFC 7946 sections 3.1.4 and"
          + " 3.1.6): \(geometry.shortParts), the first of feature \(first)")
    }
    if geometry.hasExtraOrdinates {
      notes.append("numbers after the third of a position are left out (RFC 7946 section 3.1.1)")
    }
    if geometry.hasMixedDimensions {
      notes.append("where some positions of a geometry have a z, the others get 0")
    }
    if !foreign.isEmpty {
      let names = foreign.map { "\($0.name) (\($0.count))" }.joined(separator: ", ")
      notes.append("members of features that GeoJSON does not define are left out: \(names)")
    }
    if let srs = geometry.crs.srs, let source = options.sourceSRS, srs != source {
      notes.append("the file says \(srs), which \(source) overrides")
    }
    return notes
  }
}
