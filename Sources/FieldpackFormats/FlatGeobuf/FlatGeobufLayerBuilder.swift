import FieldpackCore
import FieldpackGeometry

/// Builds the rows of a FlatGeobuf file in the shape asked for, and gathers the shape the file has.
struct FlatGeobufLayerBuilder: ~Copyable {
  struct Column {
    /// The column as the file has it.
    var stated: FlatGeobufHeader.Column
    /// Its name among the layer's columns.
    var name: String
    /// What the texts of a column of moments have been.
    var seen: ScalarTraits = []
    /// Whether a value is beyond 64 bits with a sign.
    var isLarge = false
    /// What the header says of the values.
    var rules = FlatGeobufRules()
    /// The column in the row, -1 where the row has none.
    var rowColumn = -1
    var rowType = ColumnType.text()
  }

  private let header: FlatGeobufHeader
  private let options: ReadOptions
  private let asked: FileLayer?
  private var columns: [Column] = []
  /// The columns with rules.
  private var ruled: [Int] = []
  private var takenNames: Set<String> = ["fid", "geom"]
  /// The column of the ids: the one asked for, or `fid` where its values allow.
  private var idColumn: Int?
  private var hasUsableIDs = false
  private var keepsIDs = false
  private var ids = DistinctIntegers()
  private var id: Int64?
  private var hasGeometry = false
  private(set) var geometry: FlatGeobufGeometry
  private(set) var notes: [Note] = []
  var rows: RowBuffer
  private(set) var count = 0

  init(
    _ header: FlatGeobufHeader, options: ReadOptions, asked: FileLayer?
  ) throws(FieldpackError) {
    self.header = header
    self.options = options
    self.asked = asked
    geometry = FlatGeobufGeometry(header.dimensions)
    rows = RowBuffer(columnCount: asked?.schema.columns.count ?? 0)
    idColumn = header.columns.firstIndex {
      $0.name.lowercased() == (options.idColumn ?? "fid").lowercased() && $0.kind.isInteger
    }
    hasUsableIDs = idColumn != nil
    if options.boxes != nil, let asked { assume(asked) }
    guard options.idColumn == nil || hasUsableIDs else {
      let names = header.columns.filter(\.kind.isInteger).map(\.name).joined(separator: ", ")
      throw FieldpackError(
        .invalidArgument,
        "there is no column '\(options.idColumn ?? "")' of integers "
          + "(there are: \(names.isEmpty ? "none" : names))")
    }
    // A column `fid` has to be renamed only where it holds no ids, and takes no other's name for that.
    for (index, column) in header.columns.enumerated() {
      add(column, isID: index == idColumn)
      columns[index].rules = FlatGeobufRules(column)
    }
    ruled = columns.indices.filter { !columns[$0].rules.isEmpty }
    if let idColumn, columns[idColumn].name.isEmpty {
      columns[idColumn].name = free("fid")
      find(idColumn)
    }
  }

  /// Takes for true what the beginning of the file says, where only a part of it is read: the layer is
  /// the same whatever part is asked for.
  private mutating func assume(_ layer: FileLayer) {
    hasGeometry = layer.schema.geometry != nil
    keepsIDs = layer.ids == .file
    if options.idColumn == nil { hasUsableIDs = hasUsableIDs && keepsIDs }
  }

  private mutating func add(_ column: FlatGeobufHeader.Column, isID: Bool = false) {
    let waits = isID && column.name.lowercased() == "fid"
    columns.append(Column(stated: column, name: waits ? "" : free(column.name)))
    if !waits { find(columns.count - 1) }
  }

  /// Finds the row's column for a column of the file.
  private mutating func find(_ index: Int) {
    let name = columns[index].name
    guard let found = asked?.schema.columns.firstIndex(where: { $0.name == name }) else { return }
    columns[index].rowColumn = found
    columns[index].rowType = asked?.schema.columns[found].type ?? .text()
    guard options.boxes != nil else { return }
    switch columns[index].rowType {
    case .date: columns[index].seen = .date
    case .dateTime: columns[index].seen = .dateTime
    case .double: columns[index].isLarge = true
    default: columns[index].seen = .text
    }
  }

  private mutating func free(_ name: String) -> String {
    let name = name.isEmpty ? "field_\(columns.count + 1)" : name
    return name.numbered { takenNames.insert($0.lowercased()).inserted }
  }

  // MARK: What the file is

  private var usesIDs: Bool { hasUsableIDs && (count > 0 || keepsIDs || options.idColumn != nil) }

  /// The layer as the features so far ask for it.
  var found: FileLayer {
    let definitions = columns.enumerated().filter { !usesIDs || $0.offset != idColumn }.map {
      ColumnDefinition(
        $0.element.name, $0.element.type, isNullable: $0.element.rules.isNullable,
        isUnique: $0.element.rules.isUnique, title: $0.element.stated.title,
        description: $0.element.stated.description)
    }
    return FileLayer(
      schema: Schema(layer: options.layer, geometry: geometryColumn, columns: definitions),
      ids: usesIDs ? .file : .ordinal)
  }

  /// The header tells the geometry column. A file of attributes alone says nothing of geometries.
  private var geometryColumn: GeometryColumn? {
    let saysNothing = header.type == .geometry && !header.hasSystem && header.envelope == nil
    guard hasGeometry || !saysNothing else { return nil }
    return GeometryColumn(
      type: header.type.ofGeoPackage,
      srs: options.sourceSRS ?? header.srs ?? .undefinedCartesian,
      z: header.dimensions.hasZ ? .mandatory : .prohibited,
      m: header.dimensions.hasM ? .mandatory : .prohibited)
  }

  /// Whether only the features tell what the layer is.
  var needsFeatures: Bool {
    header.columns.isEmpty || idColumn != nil || geometryColumn == nil
      || columns.contains { $0.stated.kind == .dateTime || $0.stated.kind == .unsignedLong }
  }

  /// What the user is to know of the file, when all is read.
  var remarks: [Note] {
    var notes = columns.enumerated().filter {
      $0.element.name != $0.element.stated.name && (!usesIDs || $0.offset != idColumn)
    }.map { Note("column '\($0.element.stated.name)' is named '\($0.element.name)'") }
    let replaced = geometry.replacedTypes.map { "\($0.name) as \($0.ofGeoPackage.name)" }
    if !replaced.isEmpty {
      notes.append(
        Note("read \(replaced.joined(separator: ", ")): GeoPackage has no such type"))
    }
    if header.hasTimes { notes.append("the times of positions are not read") }
    guard geometryColumn != nil else { return notes }
    if let given = options.sourceSRS, let stated = header.srs, given != stated {
      notes.append(Note("the file says \(stated), and is read as \(given)"))
    } else if options.sourceSRS == nil, header.srs == nil {
      notes.append(Note("the file does not say its reference system", advice: .nameSourceSRS))
    }
    return notes
  }

  // MARK: Features

  /// Takes a feature; `rows` then holds it, unless its id cannot be given as asked.
  mutating func take(_ bytes: UnsafeRawBufferPointer) throws(FieldpackError) {
    do throws(FieldpackError) {
      let feature = try FlatBytes(bytes: bytes).root()
      try readGeometry(feature)
      try readProperties(feature)
      try checkID()
      for index in ruled { columns[index].rules.end(feature: count) }
    } catch {
      rows.clear()
      throw error
    }
    count += 1
    guard let asked else { return }
    // The file is read again where a rule of the layer asked for is broken.
    let keepsRules = ruled.allSatisfy { index in
      let column = columns[index].rowColumn
      return column < 0 || !columns[index].rules.isWider(than: asked.schema.columns[column])
    }
    guard keepsRules, asked.ids == .ordinal || id != nil else {
      rows.clear()
      return
    }
    let number = asked.ids == .file ? id : nil
    rows.commit(id: number ?? Int64(count), envelope: geometry.envelope) {
      asked.schema.geometry?.append(
        geometry.wkb, geometry.type, header.dimensions, isEmpty: geometry.envelope == nil, to: &$0)
    }
  }

  private mutating func readGeometry(_ feature: FlatTable) throws(FieldpackError) {
    guard let table = try feature.table(0) else { return geometry.clear() }
    hasGeometry = true
    try geometry.read(table, as: header.type)
  }

  private mutating func checkID() throws(FieldpackError) {
    guard let column = idColumn, hasUsableIDs else { return }
    if let id, ids.insert(id) { return }
    guard options.idColumn != nil else {
      hasUsableIDs = false
      return
    }
    let name = columns[column].stated.name
    throw FieldpackError(
      .invalidData,
      id.map { "the id \($0) is there twice" } ?? "the feature has no id in column '\(name)'")
  }

  private mutating func readProperties(_ feature: FlatTable) throws(FieldpackError) {
    id = nil
    guard let properties = try feature.vector(1, of: 1) else { return }
    let own = try FlatGeobufHeader.columns(feature, 2)
    let numbers = own.isEmpty ? nil : try numbers(of: own)
    var values = PropertyValues(properties.bytes)
    while let stated = try values.nextColumn() {
      guard stated < numbers?.count ?? columns.count else {
        throw FieldpackError(.invalidData, "a value is of column \(stated), which there is not")
      }
      let (index, start) = (numbers?[stated] ?? stated, values.offset)
      try read(&values, index)
      if !ruled.isEmpty {
        columns[index].rules.take(
          values.bytes(from: start), columns[index].stated.kind, feature: count)
      }
    }
  }

  /// The columns that a feature names itself, among those of the layer.
  private mutating func numbers(
    of own: [FlatGeobufHeader.Column]
  ) throws(FieldpackError) -> [Int] {
    var numbers: [Int] = []
    for column in own {
      if let known = columns.firstIndex(where: { $0.stated.name == column.name }) {
        guard columns[known].stated.kind == column.kind else {
          throw FieldpackError(
            .invalidData, "column '\(column.name)' has another type than in features before")
        }
        numbers.append(known)
      } else {
        add(column)
        numbers.append(columns.count - 1)
      }
    }
    return numbers
  }

  private mutating func read(
    _ values: inout PropertyValues, _ index: Int
  ) throws(FieldpackError) {
    let kind = columns[index].stated.kind
    let column = columns[index].rowColumn
    switch kind {
    case .byte: take(Int64(try values.next(Int8.self)), index)
    case .unsignedByte: take(Int64(try values.next(UInt8.self)), index)
    case .bool: take(try values.next(UInt8.self) == 0 ? 0 : 1, index)
    case .short: take(Int64(try values.next(Int16.self)), index)
    case .unsignedShort: take(Int64(try values.next(UInt16.self)), index)
    case .int: take(Int64(try values.next(Int32.self)), index)
    case .unsignedInt: take(Int64(try values.next(UInt32.self)), index)
    case .long: take(try values.next(Int64.self), index)
    case .unsignedLong: takeLarge(try values.next(UInt64.self), index)
    case .float: takeReal(Double(Float(bitPattern: try values.next(UInt32.self))), index)
    case .double: takeReal(Double(bitPattern: try values.next(UInt64.self)), index)
    case .string, .json:
      let text = try values.nextText()
      if column >= 0 { rows.set(column, text) }
    case .dateTime: takeMoment(try values.nextText(), index)
    case .binary:
      let bytes = try values.nextBytes()
      if column >= 0 { rows.set(column, blob: bytes) }
    }
  }

  private mutating func take(_ value: Int64, _ index: Int) {
    if index == idColumn { id = value }
    let column = columns[index].rowColumn
    guard column >= 0 else { return }
    switch columns[index].rowType {
    case .double: rows.set(column, Double(value))
    // Another file of the same import has texts in the column.
    case .text: setText(column, stated(value, columns[index]))
    default: rows.set(column, value)
    }
  }

  private func stated(_ value: Int64, _ column: Column) -> String {
    column.stated.kind == .bool ? (value == 0 ? "false" : "true") : String(value)
  }

  private mutating func setText(_ column: Int, _ text: String) {
    var text = text
    text.withUTF8 { rows.set(column, $0) }
  }

  /// Not a number is NULL, as SQLite has it.
  private mutating func takeReal(_ value: Double, _ index: Int) {
    let column = columns[index].rowColumn
    guard column >= 0, !value.isNaN else { return }
    if case .text = columns[index].rowType {
      setText(column, "\(value)")
    } else {
      rows.set(column, value)
    }
  }

  private mutating func takeLarge(_ value: UInt64, _ index: Int) {
    if let value = Int64(exactly: value) { return take(value, index) }
    columns[index].isLarge = true
    switch columns[index].rowType {
    case .double, .text: takeReal(Double(value), index)
    default: break
    }
  }

  private mutating func takeMoment(_ text: UnsafeBufferPointer<UInt8>, _ index: Int) {
    let value = InferredValue.moment(text) ?? .text
    columns[index].seen.insert(value.trait)
    let column = columns[index].rowColumn
    guard column >= 0 else { return }
    switch (columns[index].rowType, value) {
    case (.date, .date), (.text, _): rows.set(column, text)
    case (.dateTime, .dateTime(let instant)):
      rows.setText(column) { InstantText.append(instant, to: &$0) }
    default: break
    }
  }
}

extension FlatGeobufLayerBuilder.Column {
  /// The type of the layer's column.
  fileprivate var type: ColumnType {
    switch stated.kind {
    case .bool: .boolean
    case .byte: .tinyInt
    case .unsignedByte, .short: .smallInt
    case .unsignedShort, .int: .mediumInt
    case .unsignedInt, .long: .integer
    case .unsignedLong: isLarge ? .double : .integer
    case .float: .float
    case .double: .double
    case .string: .text(maximumLength: rules.maximumLength)
    case .json: .json
    case .dateTime:
      [.date, .dateTime].contains(seen) ? seen.type : seen.isEmpty ? .dateTime : .text()
    case .binary: .blob()
    }
  }
}
