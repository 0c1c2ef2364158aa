import FieldpackCore
import FieldpackGeometry

/// What the header of a CSV file says: which fields are geometry, ids and attributes.
struct CSVHeader {
  enum GeometryRole: Hashable {
    case none
    case wkt(Int)
    case xy(Int, Int)
  }

  struct Column: Hashable {
    var field: Int
    var name: String
  }

  let fieldCount: Int
  private(set) var geometry = GeometryRole.none
  /// Whether the names of the coordinates say that they are degrees.
  private(set) var isGeographic = false
  /// The field of the ids: the one asked for, or one that may serve where its values allow.
  private(set) var idField: Int?
  private(set) var isIDRequired = false
  /// Every attribute, the field of the ids included.
  private(set) var columns: [Column] = []
  private(set) var notes: [String] = []

  private static let wktNames: Set<String> = ["wkt", "geometry", "geom"]
  private static let xNames: Set<String> = ["lon", "lng", "longitude", "x"]
  private static let yNames: Set<String> = ["lat", "latitude", "y"]

  init(_ names: [String], options: ReadOptions, file: String) throws(FieldpackError) {
    fieldCount = names.count
    let names = names.map {
      String($0.drop(while: \.isWhitespace).trimmingSuffix(while: \.isWhitespace))
    }
    do throws(FieldpackError) {
      try findGeometry(names, options.csv)
      try findIDs(names, options.idColumn)
    } catch { throw error.adding(position: FilePosition(file: file, line: 1)) }
    nameColumns(names)
  }

  private mutating func findGeometry(
    _ names: [String], _ options: CSVOptions
  ) throws(FieldpackError) {
    let isNamed = options.xColumn != nil || options.yColumn != nil || options.wktColumn != nil
    guard !isNamed else {
      try useNamed(names, options)
      return
    }
    let lower = names.map { $0.lowercased() }
    let wkts = lower.indices.filter { Self.wktNames.contains(lower[$0]) }
    let xs = lower.indices.filter { Self.xNames.contains(lower[$0]) }
    let ys = lower.indices.filter { Self.yNames.contains(lower[$0]) }
    let hasXY = !xs.isEmpty && !ys.isEmpty
    guard wkts.count + (hasXY ? max(xs.count, ys.count) : 0) <= 1 else {
      let found = (wkts + (hasXY ? xs + ys : [])).map { "'\(names[$0])'" }
      throw FieldpackError(
        .invalidArgument,
        "more than one column may hold the geometry: "
          + found.joined(separator: ", "), advice: .nameGeometryColumns)
    }
    if let wkt = wkts.first {
      geometry = .wkt(wkt)
    } else if hasXY {
      geometry = .xy(xs[0], ys[0])
      isGeographic = lower[xs[0]] != "x" && lower[ys[0]] != "y"
    }
  }

  private mutating func useNamed(
    _ names: [String], _ options: CSVOptions
  ) throws(FieldpackError) {
    if let wkt = options.wktColumn {
      guard options.xColumn == nil, options.yColumn == nil else {
        throw FieldpackError(
          .invalidArgument, "a column of WKT excludes columns of x and y", advice: .nameOneGeometry)
      }
      geometry = .wkt(try Self.field(wkt, in: names))
      return
    }
    guard let x = options.xColumn, let y = options.yColumn else {
      throw FieldpackError(
        .invalidArgument, "the columns of x and y are given together", advice: .nameBothCoordinates)
    }
    geometry = .xy(try Self.field(x, in: names), try Self.field(y, in: names))
    isGeographic =
      Self.xNames.subtracting(["x"]).contains(x.lowercased())
      && Self.yNames.subtracting(["y"]).contains(y.lowercased())
  }

  private static func field(_ name: String, in names: [String]) throws(FieldpackError) -> Int {
    if let exact = names.firstIndex(of: name) { return exact }
    let lower = name.lowercased()
    if let index = names.firstIndex(where: { $0.lowercased() == lower }) { return index }
    throw FieldpackError(
      .invalidArgument,
      "there is no column '\(name)' (there are: \(names.joined(separator: ", ")))")
  }

  private mutating func findIDs(_ names: [String], _ asked: String?) throws(FieldpackError) {
    if let asked {
      idField = try Self.field(asked, in: names)
      isIDRequired = true
    } else {
      idField =
        names.firstIndex { $0.lowercased() == "fid" } ?? names.firstIndex { $0 == "id" }
    }
    if let field = idField, isGeometry(field) {
      guard !isIDRequired else {
        throw FieldpackError(.invalidArgument, "column '\(names[field])' is the geometry's")
      }
      idField = nil
    }
  }

  private func isGeometry(_ field: Int) -> Bool {
    switch geometry {
    case .none: false
    case .wkt(let wkt): field == wkt
    case .xy(let x, let y): field == x || field == y
    }
  }

  /// A name equal to an earlier one, ignoring case, gets `_2`; `fid` and `geom` are taken.
  private mutating func nameColumns(_ names: [String]) {
    var taken: Set<String> = ["fid", "geom"]
    let fields = names.indices.filter { !isGeometry($0) }
    // A column `fid` has to be renamed only where it holds no ids, and takes no other's name for that.
    let fid = fields.filter { $0 == idField && names[$0].lowercased() == "fid" }
    for field in fields.filter({ !fid.contains($0) }) + fid {
      let given = names[field]
      let name = given.isEmpty ? "field_\(field + 1)" : given
      let unique = name.numbered { taken.insert($0.lowercased()).inserted }
      if unique != given, field != idField {
        notes.append("column '\(given)' is named '\(unique)'")
      }
      columns.append(Column(field: field, name: unique))
    }
    columns.sort { $0.field < $1.field }
  }
}

extension Substring {
  fileprivate func trimmingSuffix(while predicate: (Character) -> Bool) -> Substring {
    var end = endIndex
    while end > startIndex, predicate(self[index(before: end)]) { end = index(before: end) }
    return self[..<end]
  }
}
