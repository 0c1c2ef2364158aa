import FieldpackCore
import FieldpackGeoPackage
import FieldpackSQLite

/// Tile pyramids: clause 2.2, and the extensions for WebP and for other zoom intervals.
struct TilesCheck {
  let check: ConformanceCheck
  private static let sets = GPKGTileMatrixSet.table
  private static let matrices = GPKGTileMatrix.table

  struct Matrix {
    var zoom: Int64
    /// The values of `GPKGTileMatrix.counts`.
    var counts: [Int64]
    /// The values of `GPKGTileMatrix.pixels`.
    var pixels: [Double]
  }

  func run() throws(FieldpackError) {
    let pyramids = check.layers("tiles", "2d-gridded-coverage")
    let names = Set(pyramids.map { SQLName($0.table) })
    let sets = try readSets(names, isNeeded: !pyramids.isEmpty)
    let matrices = try readMatrices(names, isNeeded: !pyramids.isEmpty)
    for pyramid in pyramids {
      try check.attempt(.core(34), table: pyramid.table, "the tiles") { () throws(FieldpackError) in
        let name = SQLName(pyramid.table)
        if check.has(Self.sets), sets[name] == nil {
          try check.report(
            .error, .core(40), table: pyramid.table, "it has no row in gpkg_tile_matrix_set")
        }
        let levels = matrices[name] ?? []
        try examine(levels, pyramid, sets[name])
        try TileRows(check: check, pyramid: pyramid, levels: levels).run()
      }
    }
  }

  // MARK: Sets

  private struct MatrixSet {
    var srsID: Int64?
    /// min_x, min_y, max_x, max_y.
    var bounds: [Double?]
  }

  private func readSets(
    _ names: Set<SQLName>, isNeeded: Bool
  ) throws(FieldpackError) -> [SQLName: MatrixSet] {
    var sets: [SQLName: MatrixSet] = [:]
    guard check.has(Self.sets) else {
      if isNeeded { try check.report(.error, .core(38), table: Self.sets, "the table is missing") }
      return [:]
    }
    try check.attempt(.core(38), table: Self.sets, "the table") { () throws(FieldpackError) in
      guard try check.examine(GPKGTileMatrixSet.self, .core(38)) else { return }
      try check.each(of: GPKGTileMatrixSet.columns) { (row) throws(FieldpackError) in
        let table = row[.tableName].textValue ?? ""
        let set = MatrixSet(
          srsID: row[.srsID].integerValue, bounds: row[GPKGTileMatrixSet.bounds].map(\.realValue))
        sets[SQLName(table)] = set
        if check.contents != nil, !names.contains(SQLName(table)) {
          try check.report(
            .error, .core(39), table: table,
            "it is in gpkg_tile_matrix_set, but not as tiles in gpkg_contents")
        }
        try examineSystem(set, table)
      }
    }
    return sets
  }

  private func examineSystem(_ set: MatrixSet, _ table: String) throws(FieldpackError) {
    let id = set.srsID.map { "\($0)" } ?? "NULL"
    if check.lacksSystem(set.srsID) {
      try check.report(
        .error, .core(41), table: table, "srs_id \(id) is not in gpkg_spatial_ref_sys")
    }
    guard let stated = check.contents(of: table), stated.srsID != set.srsID else { return }
    try check.report(
      check.version < 10_300 ? .warning : .error, .core(147), table: table,
      "srs_id is \(stated.srsID.map { "\($0)" } ?? "NULL") in gpkg_contents and \(id) in "
        + "gpkg_tile_matrix_set")
  }

  // MARK: Matrices

  private func readMatrices(
    _ names: Set<SQLName>, isNeeded: Bool
  ) throws(FieldpackError) -> [SQLName: [Matrix]] {
    var matrices: [SQLName: [Matrix]] = [:]
    guard check.has(Self.matrices) else {
      if isNeeded {
        try check.report(.error, .core(42), table: Self.matrices, "the table is missing")
      }
      return [:]
    }
    try check.attempt(.core(42), table: Self.matrices, "the table") { () throws(FieldpackError) in
      guard try check.examine(GPKGTileMatrix.self, .core(42)) else { return }
      try check.each(of: GPKGTileMatrix.columns, " ORDER BY zoom_level") {
        (row) throws(FieldpackError) in
        let table = row[.tableName].textValue ?? ""
        if check.contents != nil, !names.contains(SQLName(table)) {
          try check.report(
            .error, .core(43), table: table,
            "it is in gpkg_tile_matrix, but not as tiles in gpkg_contents")
        }
        let matrix = Matrix(
          zoom: row[.zoom].integerValue ?? -1,
          counts: row[GPKGTileMatrix.counts].map { $0.integerValue ?? 0 },
          pixels: row[GPKGTileMatrix.pixels].map { $0.realValue ?? .nan })
        try examineNumbers(matrix, table)
        matrices[SQLName(table), default: []].append(matrix)
      }
    }
    return matrices
  }

  private func examineNumbers(_ matrix: Matrix, _ table: String) throws(FieldpackError) {
    if matrix.zoom < 0 {
      try check.report(.error, .core(46), table: table, "zoom level \(matrix.zoom) is below 0")
    }
    for (index, column) in GPKGTileMatrix.counts.enumerated() where matrix.counts[index] < 1 {
      try check.report(
        .error, .core(47 + index), table: table, column: column.sql,
        "\(column.sql) of zoom level \(matrix.zoom) is \(matrix.counts[index])")
    }
    for (index, column) in GPKGTileMatrix.pixels.enumerated()
    where !(matrix.pixels[index] > 0) {
      try check.report(
        .error, .core(51 + index), table: table, column: column.sql,
        "\(column.sql) of zoom level \(matrix.zoom) is \(matrix.pixels[index])")
    }
  }

  private func examine(
    _ levels: [Matrix], _ pyramid: ConformanceCheck.ContentsRow, _ set: MatrixSet?
  ) throws(FieldpackError) {
    let hasOtherZooms = check.isRegistered("gpkg_zoom_other", table: pyramid.table)
    for (lower, upper) in zip(levels, levels.dropFirst()) {
      guard (0..<2).allSatisfy({ upper.pixels[$0] < lower.pixels[$0] }) else {
        try check.report(
          .error, .core(53), table: pyramid.table,
          "pixels of zoom level \(upper.zoom) are not smaller than those of \(lower.zoom)")
        continue
      }
      guard upper.zoom == lower.zoom &+ 1, !hasOtherZooms else { continue }
      let isHalf = (0..<2).allSatisfy { axis in
        abs(upper.pixels[axis] - lower.pixels[axis] / 2) < 1e-5 * lower.pixels[axis]
      }
      if !isHalf {
        try check.report(
          .error, .core(35), table: pyramid.table,
          "pixels of zoom level \(upper.zoom) are not half of those of \(lower.zoom)")
      }
    }
    try examineSpan(levels, pyramid, set)
  }

  private func examineSpan(
    _ levels: [Matrix], _ pyramid: ConformanceCheck.ContentsRow, _ set: MatrixSet?
  ) throws(FieldpackError) {
    let bounds = (set?.bounds ?? []).compactMap { $0 }
    guard bounds.count == 4 else { return }
    let spans = [bounds[2] - bounds[0], bounds[3] - bounds[1]]
    for level in levels {
      for (axis, name) in ["wide", "high"].enumerated() {
        let span =
          Double(level.counts[axis]) * Double(level.counts[axis + 2]) * level.pixels[axis]
        guard !(abs(span - spans[axis]) <= 1e-3 * abs(spans[axis])) else { continue }
        try check.report(
          .error, .core(45), table: pyramid.table,
          "zoom level \(level.zoom) is \(span) \(name), and the set \(spans[axis])")
      }
    }
  }
}

/// The tiles of one pyramid.
private struct TileRows {
  let check: ConformanceCheck
  let pyramid: ConformanceCheck.ContentsRow
  let levels: [TilesCheck.Matrix]

  func run() throws(FieldpackError) {
    guard let object = check.table(pyramid.table),
      try check.examine(GPKGTiles.self, .core(54), in: object.name)
    else { return }
    let table = object.name
    let known = Dictionary(levels.map { ($0.zoom, $0) }, uniquingKeysWith: { first, _ in first })
    var isWebP = false
    var unknownLevels: Set<Int64> = []
    try check.each(
      "SELECT id, zoom_level, tile_column, tile_row, substr(tile_data, 1, \(MediaType.length)) "
        + "FROM \(quoted(table))"
    ) { (row) throws(FieldpackError) in
      try check.noteRow()
      let id = row[0].integerValue
      let zoom = row[1].integerValue ?? -1
      if let level = known[zoom] {
        try examineAddress(row, level, table)
      } else if unknownLevels.insert(zoom).inserted {
        try check.report(
          .error, .core(44), table: table,
          "there are tiles of zoom level \(zoom), which gpkg_tile_matrix does not have")
      }
      if !levels.isEmpty, zoom < levels[0].zoom || zoom > levels[levels.count - 1].zoom {
        try check.report(
          .error, .core(55), table: table, column: "zoom_level", row: id,
          "zoom level \(zoom) is outside of those of gpkg_tile_matrix")
      }
      let format = Self.format(row[4])
      if format == .webp { isWebP = true }
      if format.map({ !allowed.contains($0) }) ?? true {
        try check.report(
          .error, .core(36), table: table, column: "tile_data", row: id, Self.fault(row[4], format))
      }
    }
    if isWebP, !check.isRegistered("gpkg_webp", table: table) {
      try check.report(
        .error, .core(91), table: table, column: "tile_data",
        "tiles are WebP, and gpkg_webp is not in gpkg_extensions",
        repair: .extensionRow(ExtensionRow(name: "gpkg_webp", table: table, column: "tile_data")))
    }
  }

  private var allowed: [MediaType] {
    pyramid.dataType.lowercased() == "tiles"
      ? [.png, .jpeg, .webp]
      : [.png, .tiff]
  }

  private static func format(_ value: SQLiteValue) -> MediaType? {
    guard case .blob(let bytes) = value else { return nil }
    return bytes.withUnsafeBytes { MediaType($0) }
  }

  private static func fault(_ value: SQLiteValue, _ format: MediaType?) -> String {
    guard case .blob(let bytes) = value, !bytes.isEmpty else {
      return "the tile is no blob, or an empty one"
    }
    return format.map { "the tile is \($0.rawValue)" } ?? "the tile is no image of a known kind"
  }

  private func examineAddress(
    _ row: [SQLiteValue], _ level: TilesCheck.Matrix, _ table: String
  ) throws(FieldpackError) {
    for (axis, name) in ["tile_column", "tile_row"].enumerated() {
      let number = row[2 + axis].integerValue ?? -1
      guard number < 0 || number >= level.counts[axis] else { continue }
      try check.report(
        .error, .core(56 + axis), table: table, column: name, row: row[0].integerValue,
        "\(name) \(number) is not from 0 to \(max(0, level.counts[axis]) - 1)")
    }
  }
}
