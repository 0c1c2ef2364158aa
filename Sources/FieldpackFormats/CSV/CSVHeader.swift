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
  /// The field of the ids that was asked for.
  private(set) var idField: Int?
  /// Every attribute, without the field of the ids.
  private(set) var columns: [Column] = []
  /// What the layer's own ids are called: `fid`, which a column of the file may be called, too.
  private(set) var idColumn = "fid"
  private(set) var notes: [Note] = []

  /// - Parameter sample: the first row, where there is one.
  init(
    _ names: [String], sample: [String] = [], options: ReadOptions, file: String
  ) throws(FieldpackError) {
    // Some programs write a delimiter at the end of the header.
    let isCut = names.last == "" && sample.count == names.count - 1
    fieldCount = isCut ? sample.count : names.count
    let names = names.prefix(fieldCount).map {
      String($0.drop(while: \.isWhitespace).trimmingSuffix(while: \.isWhitespace))
    }
    do throws(FieldpackError) {
      try findGeometry(names, options)
      try findIDs(names, options.idColumn)
    } catch { throw error.adding(position: FilePosition(file: file, line: 1)) }
    nameColumns(names)
    if geometry == .none { noteCandidates(names, sample) }
  }

  // MARK: Geometry

  private mutating func findGeometry(
    _ names: [String], _ options: ReadOptions
  ) throws(FieldpackError) {
    let csv = options.csv
    guard csv.xColumn == nil, csv.yColumn == nil, csv.wktColumn == nil else {
      return try useNamed(names, csv)
    }
    let found = CSVCoordinates(names)
    let pairs = [found.degrees, found.plane].filter { !$0.x.isEmpty && !$0.y.isEmpty }
    let isClear = pairs.allSatisfy { $0.x.count == 1 && $0.y.count == 1 }
    // A column of that name is what it says, and is how features with such columns are written.
    let prefersWKT = found.wkt.count == 1 && names[found.wkt[0]].lowercased() == "wkt"
    // Degrees say what they are; the SRS that is given may be that of the others.
    let prefersDegrees = found.wkt.isEmpty && isClear && options.sourceSRS == nil
    let isOne = found.wkt.count + pairs.count <= 1 && isClear
    guard isOne || prefersWKT || prefersDegrees else {
      let fields = found.wkt + pairs.flatMap { $0.x + $0.y }
      throw FieldpackError(
        .invalidArgument,
        "more than one column may hold the geometry: "
          + fields.map { "'\(names[$0])'" }.joined(separator: ", "),
        advice: .nameGeometryColumns)
    }
    if let wkt = found.wkt.first {
      geometry = .wkt(wkt)
    } else if let pair = pairs.first {
      let (x, y) = (pair.x[0], pair.y[0])
      geometry = .xy(x, y)
      isGeographic = found.degrees.x == [x] && found.degrees.y == [y]
    }
    let others = pairs.dropFirst(found.wkt.isEmpty ? 1 : 0).flatMap { $0.x + $0.y }
    if !others.isEmpty { noteOthers(others, names) }
  }

  /// Says which columns would have been the geometry without the one that is.
  private mutating func noteOthers(_ fields: [Int], _ names: [String]) {
    let taken = names.indices.filter(isGeometry).map { "'\(names[$0])'" }
    let others = fields.sorted().map { "'\(names[$0])'" }
    notes.append(
      Note(
        "the geometry is that of \(taken.joined(separator: " and ")); "
          + "\(others.joined(separator: " and ")) are columns"))
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
    isGeographic = CSVCoordinates.areDegrees(x, y)
  }

  private static func field(_ name: String, in names: [String]) throws(FieldpackError) -> Int {
    if let exact = names.firstIndex(of: name) { return exact }
    let lower = name.lowercased()
    if let index = names.firstIndex(where: { $0.lowercased() == lower }) { return index }
    throw FieldpackError(
      .invalidArgument,
      "there is no column '\(name)' (there are: \(names.joined(separator: ", ")))")
  }

  /// Says which columns may be coordinates, where none were taken for them.
  private mutating func noteCandidates(_ names: [String], _ sample: [String]) {
    if let field = CSVCoordinates.wktField(in: sample), field < names.count {
      notes.append(
        Note(
          "the layer has no geometry; column '\(names[field])' may hold it",
          advice: .nameWKTColumn(names[field])))
      return
    }
    let pairs = CSVCoordinates.candidates(in: names)
    guard let first = pairs.first else { return }
    let shown = pairs.prefix(3).map { "'\(names[$0.x])' and '\(names[$0.y])'" }
    notes.append(
      Note(
        "the layer has no geometry; columns \(shown.joined(separator: ", or ")) may be coordinates",
        advice: .nameCoordinates(x: names[first.x], y: names[first.y])))
  }

  // MARK: Columns

  private mutating func findIDs(_ names: [String], _ asked: String?) throws(FieldpackError) {
    guard let asked else { return }
    let field = try Self.field(asked, in: names)
    guard !isGeometry(field) else {
      throw FieldpackError(.invalidArgument, "column '\(names[field])' is the geometry's")
    }
    idField = field
  }

  private func isGeometry(_ field: Int) -> Bool {
    switch geometry {
    case .none: false
    case .wkt(let wkt): field == wkt
    case .xy(let x, let y): field == x || field == y
    }
  }

  /// A name equal to an earlier one, ignoring case, gets `_2`; `geom` is taken.
  private mutating func nameColumns(_ names: [String]) {
    var taken: Set<String> = ["geom"]
    for field in names.indices where !isGeometry(field) && field != idField {
      let given = names[field]
      let name = given.isEmpty ? "field_\(field + 1)" : given
      let unique = name.numbered { taken.insert($0.lowercased()).inserted }
      if unique != given { notes.append("column '\(given)' is named '\(unique)'") }
      columns.append(Column(field: field, name: unique))
    }
    idColumn = idColumn.numbered { !taken.contains($0) }
  }
}

extension Substring {
  fileprivate func trimmingSuffix(while predicate: (Character) -> Bool) -> Substring {
    var end = endIndex
    while end > startIndex, predicate(self[index(before: end)]) { end = index(before: end) }
    return self[..<end]
  }
}
