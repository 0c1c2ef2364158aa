import FieldpackCore
import FieldpackGeometry
import FieldpackSQLite
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackGeoPackage

/// SpatiaLite on the GeoPackage's own blobs, with no function of ours on the connection.
final class SpatiaLitePeer {
  private let connection: Connection

  init(_ path: String, _ literals: [Geometry]) throws {
    connection = try Connection(path: path, mode: .readWrite, profile: .bulk)
    try connection.loadSpatiaLite()
    try connection.execute("CREATE TEMP TABLE literals (k INTEGER PRIMARY KEY, g BLOB)")
    for (index, literal) in literals.enumerated() {
      var blob: [UInt8] = []
      GeoPackageBinary.append(literal, srsID: 4326, to: &blob)
      try connection.execute(
        "INSERT INTO literals VALUES (?, ?)", .integer(Int64(index)), .blob(blob))
    }
  }

  func ids(_ condition: Condition) throws -> [Int] {
    let select = try connection.prepare(
      "SELECT fid FROM places WHERE \(condition.spatiaLiteSQL) ORDER BY fid", caching: false)
    var ids: [Int] = []
    while try select.step() { ids.append(Int(select.integer(0))) }
    return ids
  }
}

/// GDAL in a process of its own: attributes by `SetAttributeFilter`, `intersects` by
/// `SetSpatialFilter`, other relations and boxes by its geometries' methods, one by one.
enum GDALPeer {
  /// The ids that GDAL finds for each condition.
  static func ids(
    _ conditions: [Condition], _ literals: [Geometry], _ package: TestPackage
  ) async throws -> [[Int]] {
    let lines = conditions.map(\.json).joined(separator: "\n")
    _ = try package.folder.write(lines, to: "conditions")
    let texts = literals.map { "\"\(WKT.text(of: $0))\"" }
    _ = try package.folder.write("[\(texts.joined(separator: ","))]", to: "literals")
    let result = try await Program.run(
      Programs.gdalPython ?? "", ["-c", script, package.path, "conditions", "literals"],
      folder: package.folder.url)
    try #require(result.status == 0, "\(result.error)")
    return result.output.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map {
      $0.split(separator: " ").compactMap { Int($0) }
    }
  }

  // Sets of features are integers whose bits are the ids; each condition gives the features for
  // which it is true and those for which it is false.
  private static let script = """
    import json, sys
    from osgeo import gdal, ogr
    gdal.UseExceptions()
    file = ogr.Open(sys.argv[1])
    layer = file.GetLayer(0)
    literals = [ogr.CreateGeometryFromWkt(t) for t in json.load(open(sys.argv[3]))]
    shapes, boxes, present, cache = {}, {}, 0, {}
    for f in layer:
        g = f.GetGeometryRef()
        if g is not None:
            shapes[f.GetFID()] = g.Clone()
            present |= 1 << f.GetFID()
            if not g.IsEmpty(): boxes[f.GetFID()] = g.GetEnvelope()
    layer.SetIgnoredFields([layer.GetLayerDefn().GetFieldDefn(i).GetName()
                            for i in range(layer.GetLayerDefn().GetFieldCount())])
    def found():
        bits = 0
        for f in layer: bits |= 1 << f.GetFID()
        return bits
    def where(text):
        layer.SetAttributeFilter(text)
        bits = found()
        layer.SetAttributeFilter(None)
        return bits
    def bits(ids):
        result = 0
        for i in ids: result |= 1 << i
        return result
    def box(relation, w, s, e, n):
        tests = {
            "intersects": lambda b: b[0] <= e and b[1] >= w and b[2] <= n and b[3] >= s,
            "within": lambda b: b[0] >= w and b[1] <= e and b[2] >= s and b[3] <= n,
            "contains": lambda b: b[0] <= w and b[1] >= e and b[2] <= s and b[3] >= n}
        true = bits(i for i, b in boxes.items()
                    if tests["intersects" if relation == "disjoint" else relation](b))
        all = bits(boxes)
        return (all & ~true, true) if relation == "disjoint" else (true, all & ~true)
    def related(relation, place):
        literal = literals[place]
        if relation == "intersects":
            layer.SetSpatialFilter(literal)
            true = found()
            layer.SetSpatialFilter(None)
        else:
            name = relation.capitalize()
            true = bits(i for i, g in shapes.items() if getattr(g, name)(literal))
        return true, present & ~true
    def ask(node):
        kind, *rest = node
        if kind in ("where", "box", "relation"):
            key = json.dumps(node)
            if key not in cache:
                cache[key] = ((where(rest[0]), where("NOT " + rest[0])) if kind == "where"
                              else box(*rest) if kind == "box" else related(*rest))
            return cache[key]
        if kind == "not": return ask(rest[0])[::-1]
        parts = [ask(part) for part in rest]
        true, false = parts[0]
        for t, f in parts[1:]:
            true, false = (true & t, false | f) if kind == "and" else (true | t, false & f)
        return true, false
    for line in open(sys.argv[2], encoding="utf-8"):
        text = bin(ask(json.loads(line))[0])[:1:-1]
        print(*(i for i, c in enumerate(text) if c == "1"))
    """
}
