import FieldpackCore
import FieldpackGeometry

/// Builds the rows of a shapefile in the shape asked for, and gathers the shape the file has.
struct ShapefileRows: ~Copyable {
  private let layer: LayerID
  private let asked: FileLayer?
  private let srs: SRS
  /// The type of a layer without shapes; `nil` for a table alone.
  private let kind: ShapeKind?
  private var encoding: DBFEncoding
  private var columns: [DBFColumn] = []
  private var idColumn: Int?
  private let isIDRequired: Bool
  private var ids = DistinctIntegers()
  private var hasUsableIDs: Bool
  var seen = ShapesSeen()
  private(set) var notes: [Note] = []
  var rows: RowBuffer
  private(set) var count = 0

  init(
    _ header: DBFHeader?, _ kind: ShapeKind?, srs: SRS, options: ReadOptions, asked: FileLayer?
  ) throws(FieldpackError) {
    let fields = header?.fields ?? []
    // This comes first: Swift 6.3.1 crashes in release builds where an error can end an initializer
    // after it has set properties.
    idColumn = try Self.idColumn(of: fields, options)
    isIDRequired = options.idColumn != nil
    layer = options.layer
    self.asked = asked
    self.srs = srs
    self.kind = kind
    encoding = header?.encoding ?? DBFEncoding(codePage: nil, driver: 0)
    hasUsableIDs = idColumn != nil
    rows = RowBuffer(columnCount: asked?.schema.columns.count ?? 0)
    name(fields)
    for index in columns.indices {
      guard
        let rowColumn = asked?.schema.columns.firstIndex(where: { $0.name == columns[index].name })
      else { continue }
      columns[index].rowColumn = rowColumn
      columns[index].asked = asked?.schema.columns[rowColumn].type ?? .text()
    }
  }

  /// The column of the feature ids: the one asked for, else `fid`.
  private static func idColumn(
    of fields: [DBFHeader.Field], _ options: ReadOptions
  ) throws(FieldpackError) -> Int? {
    let wanted = options.idColumn ?? "fid"
    let found = fields.firstIndex { $0.name.lowercased() == wanted.lowercased() }
    guard found == nil, options.idColumn != nil else { return found }
    throw FieldpackError(
      .invalidArgument,
      "there is no column '\(wanted)' (there are: "
        + "\(fields.map(\.name).joined(separator: ", ")))")
  }

  /// A name equal to an earlier one, ignoring case, gets `_2`; `fid` and `geom` are taken.
  private mutating func name(_ fields: [DBFHeader.Field]) {
    var taken: Set<String> = ["fid", "geom"]
    for (index, field) in fields.enumerated() {
      let given = field.name.isEmpty ? "field_\(index + 1)" : field.name
      let name = given.numbered { taken.insert($0.lowercased()).inserted }
      if name != field.name, index != idColumn {
        notes.append("column '\(field.name)' is named '\(name)'")
      }
      columns.append(DBFColumn(field, name: name))
    }
  }

  // MARK: The shape

  private var usesIDs: Bool { hasUsableIDs && (count > 0 || isIDRequired) }

  /// The layer as the rows so far ask for it; `expectsRows` where none were read yet and some will.
  func found(expectsRows: Bool = false) -> FileLayer {
    let usesIDs = usesIDs || hasUsableIDs && expectsRows
    let definitions = columns.indices.filter { !usesIDs || $0 != idColumn }.map {
      ColumnDefinition(columns[$0].name, columns[$0].type)
    }
    return FileLayer(
      schema: Schema(layer: layer, geometry: geometryColumn, columns: definitions),
      ids: usesIDs ? .file : .ordinal)
  }

  private var geometryColumn: GeometryColumn? {
    guard let kind else { return nil }
    guard let type = seen.type else {
      return GeometryColumn(
        type: kind.geometryType, srs: srs, z: kind.hasZ ? .mandatory : .prohibited)
    }
    return GeometryColumn(type: type, srs: srs, z: seen.dimensions.z, m: seen.dimensions.m)
  }

  /// Notes that show when all rows are read.
  func lastNotes(_ header: DBFHeader?) -> [Note] {
    var texts: [String] = []
    if let idColumn, !usesIDs, columns[idColumn].name != columns[idColumn].field.name {
      let (given, name) = (columns[idColumn].field.name, columns[idColumn].name)
      texts.append("column '\(given)' does not hold distinct integers and is named '\(name)'")
    }
    if encoding.brokenCount > 0 {
      texts.append(
        "U+FFFD stands for bytes that are not \(encoding.name), in texts: "
          + "\(encoding.brokenCount) of them")
    }
    if let unknown = encoding.unknown {
      let shown = unknown.prefix(40).split { $0.isNewline }.first ?? ""
      texts.append(
        "the .cpg names no encoding that is known ('\(shown)'); the texts are read as "
          + encoding.name)
    }
    if let memos = header?.memos, !memos.isEmpty {
      texts.append(
        "the texts of \(memos.joined(separator: ", ")) are in a file of memos, which is not read; "
          + "their numbers there are taken")
    }
    return notes + texts.map { Note($0) }
  }

  // MARK: Rows

  /// Takes a row; `rows` then holds it, unless its id cannot be given as asked.
  ///
  /// - Parameters:
  ///   - shape: the shape of `content`, which has been read.
  ///   - row: the bytes of the table's row; `nil` where there is none.
  mutating func take(
    _ shape: borrowing ShapeRecord, _ content: UnsafeRawBufferPointer?,
    _ row: UnsafeRawBufferPointer?
  ) throws(FieldpackError) {
    let id = try readID(row)
    seen.note(shape)
    count += 1
    if let row {
      for index in columns.indices { columns[index].read(row, &encoding, into: &rows) }
    }
    guard let asked else { return rows.clear() }
    guard asked.ids == .ordinal || id != nil else { return rows.clear() }
    let number = asked.ids == .file ? id ?? 0 : Int64(count)
    guard let content, let type = shape.type, let column = asked.schema.geometry,
      holds(column, type, shape.dimensions)
    else { return rows.commit(id: number, envelope: nil) { _ in } }
    if type == .point, column.type != .multiPoint {
      let point = shape.point(content)
      rows.commit(id: number, point: point.x, point.y, point.z, point.m, shape.dimensions)
    } else {
      let isMulti = column.type == type.multi
      rows.commitInPlace(id: number, envelope: shape.envelope) {
        shape.append(content, isMulti: isMulti, to: &$0)
      }
    }
  }

  private func holds(
    _ column: GeometryColumn, _ type: GeometryType, _ dimensions: Dimensions
  ) -> Bool {
    guard column.z.holds(dimensions.hasZ), column.m.holds(dimensions.hasM) else { return false }
    return column.type == type || column.type == .geometry || column.type == type.multi
  }

  /// The row's id, `nil` where it is no distinct integer.
  private mutating func readID(_ row: UnsafeRawBufferPointer?) throws(FieldpackError) -> Int64? {
    guard let idColumn, hasUsableIDs else { return nil }
    let value = row.flatMap { columns[idColumn].integer($0) }
    if let value, ids.insert(value) { return value }
    guard isIDRequired else {
      hasUsableIDs = false
      return nil
    }
    throw FieldpackError(
      .invalidData,
      value.map { "the id \($0) is there twice" }
        ?? "column '\(columns[idColumn].field.name)' holds no integer")
  }
}

extension OrdinateRule {
  fileprivate func holds(_ hasOrdinate: Bool) -> Bool {
    switch self {
    case .prohibited: !hasOrdinate
    case .mandatory: hasOrdinate
    case .optional: true
    }
  }
}
