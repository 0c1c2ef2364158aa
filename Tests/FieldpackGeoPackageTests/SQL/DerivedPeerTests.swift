import FieldpackCore
import FieldpackGeometry
import FieldpackSQLite
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackGeoPackage
@testable import FieldpackSQL

/// Joins, groups and geometry operations give what SpatiaLite and shapely give.
@Suite(.programs) struct DerivedPeerTests {
  private let package: TestPackage

  /// Stars, squares side by side, some of them in both layers, and lines, in metres.
  init() throws {
    let layers = [("areas", GeometryType.polygon), ("others", .polygon), ("lines", .lineString)]
    package = try TestPackage(
      named: "a.gpkg",
      layers.map { name, type in
        Schema(
          layer: LayerID(name), geometry: GeometryColumn(type: type, srs: SRS("EPSG", 32632)),
          columns: [ColumnDefinition("n", .integer), ColumnDefinition("kind", .text())])
      })
  }

  private static func ring(_ positions: [(Double, Double)]) -> Geometry {
    .polygon(
      [CoordinateSequence(positions.map { Position(x: $0.0, y: $0.1) }, dimensions: .xy)], .xy)
  }

  private static func star(_ x: Double, _ y: Double, _ size: Double, _ turn: Double) -> Geometry {
    var corners = (0..<14).map { step -> (Double, Double) in
      let (angle, radius) = (Double(step) / 7 * .pi + turn, step % 2 == 0 ? size : size / 2)
      return (x + radius * cos(angle), y + radius * sin(angle))
    }
    corners.append(corners[0])
    return ring(corners)
  }

  private static func square(_ x: Double, _ y: Double, _ size: Double) -> Geometry {
    ring([(x, y), (x + size, y), (x + size, y + size), (x, y + size), (x, y)])
  }

  private func store() async throws -> GeoPackageStore {
    let store = try await package.store(as: "a", usesWAL: false)
    try await store.write { (writer) throws(FieldpackError) in
      func add(_ geometry: Geometry, _ n: Int, _ layer: LayerID) throws(FieldpackError) {
        let feature = Feature(
          geometry: geometry, attributes: ["n": .integer(Int64(n)), "kind": .text("k\(n % 4)")])
        try writer.create(feature, in: layer)
      }
      for n in 0..<140 {
        let (x, y) = (500_000 + Double(n * 37 % 101) * 9, 5_500_000 + Double(n * 53 % 97) * 9)
        try add(Self.star(x, y, 20 + Double(n % 9) * 8, Double(n)), n, "areas")
        if n % 10 == 0 { try add(Self.star(x, y, 20 + Double(n % 9) * 8, Double(n)), n, "others") }
        if n % 7 == 0 { try add(Self.star(x, y, 4, 1), n, "areas") }
        let line = (0..<6).map { Position(x: x + Double($0) * 15, y: y + Double($0 * n % 23)) }
        try add(.lineString(CoordinateSequence(line, dimensions: .xy)), n, "lines")
      }
      for n in 0..<64 {
        let (x, y) = (500_000 + Double(n % 8) * 100, 5_500_000 + Double(n / 8) * 100)
        try add(Self.square(x, y, 100), n, n % 3 == 0 ? "areas" : "others")
      }
    }
    return store
  }

  /// The rows of SpatiaLite's own functions on the file.
  private func spatiaLite(_ sql: String) throws -> [[SQLiteValue]] {
    let connection = try Connection(path: package.path, mode: .readOnly)
    try connection.loadSpatiaLite()
    let statement = try connection.prepare(sql)
    var rows: [[SQLiteValue]] = []
    while try statement.step() {
      rows.append((0..<statement.columnCount).map { statement.value($0) })
    }
    return rows
  }

  @Test(arguments: SpatialRelation.allCases.filter { $0 != .disjoint })
  func `joins give SpatiaLite's pairs`(relation: SpatialRelation) async throws {
    let store = try await store()
    for (left, right) in [("areas", "others"), ("others", "areas"), ("lines", "others")] {
      let wanted = try spatiaLite(
        "SELECT a.n, b.n FROM \(left) a JOIN \(right) b ON ST_\(relation.rawValue)(a.geom, b.geom) = 1 "
          + "ORDER BY a.fid, b.fid")
      var layer = DerivedLayer("pairs", of: .layer(LayerID(left)))
      layer.join = SpatialJoin(LayerID(right), relation: relation)
      let pairs = try await store.deriving(layer)
      var found: [[Value?]] = []
      for try await feature in try await pairs.query(Query()).features {
        found.append([feature.attributes["n"], feature.attributes["\(right)_n"]])
      }
      #expect(found == wanted.map { $0.map { Value($0) } }, "\(left) \(relation) \(right)")
      let isEmpty = left == "lines" && ["contains", "covers", "equals"].contains(relation.rawValue)
      let crosses = left != "lines" && relation == .crosses
      let overlaps = left == "lines" && relation == .overlaps
      #expect(wanted.isEmpty == (isEmpty || crosses || overlaps), "\(left) \(relation) \(right)")
      await pairs.close()
    }
    await store.close()
  }

  /// Ids with areas or lengths, to a square millimetre.
  private func measures(
    _ store: GeoPackageStore, _ query: Query, _ measure: String
  ) async throws -> [String] {
    var blobs: [(Int64, [UInt8])] = []
    for try await feature in try await store.query(query).features {
      guard case .integer(let id)? = feature.id, let geometry = feature.geometry else { continue }
      blobs.append((id, WKB.bytes(of: geometry)))
    }
    let connection = try Connection(inMemory: .own)
    _ = try connection.session("memory").userSQL()
    return try blobs.map { id, wkb in
      let statement = try connection.prepare(
        "SELECT printf('%d %.6f', ?, \(measure)(ST_GeomFromWKB(?)))")
      try statement.bind([.integer(id), .blob(wkb)])
      _ = try statement.step()
      return statement.string(0) ?? ""
    }
  }

  @Test(arguments: [("areas", "ST_Area"), ("others", "ST_Area"), ("lines", "ST_Length")])
  func `clipping and simplifying leave SpatiaLite's areas and lengths`(
    layer: String, measure: String
  ) async throws {
    let store = try await store()
    var operations = GeometryOperations()
    let box = Envelope(minX: 500_123.5, minY: 5_500_077, maxX: 500_610, maxY: 5_500_543)
    operations.clip = .init(box)
    let query = Query(LayerID(layer))
    let cut = try await measures(store, query.applying(operations), measure)
    let name = measure == "ST_Length" ? "GLength" : "ST_Area"
    let corners = [
      (box.minX, box.minY), (box.maxX, box.minY), (box.maxX, box.maxY), (box.minX, box.maxY),
      (box.minX, box.minY),
    ]
    var blob: [UInt8] = []
    GeoPackageBinary.append(Self.ring(corners), srsID: 32632, to: &blob)
    let rest = "\(name)(ST_Intersection(geom, x'\(blob.hex)'))"
    let wanted = try spatiaLite(
      "SELECT printf('%d %.6f', fid, \(rest)) FROM \(layer) WHERE \(rest) > 0 ORDER BY fid")
    #expect(cut == wanted.compactMap { $0[0].textValue })
    #expect(cut.count > 20)
    operations = GeometryOperations()
    operations.tolerance = 12.5
    let simple = try await measures(store, query.applying(operations), measure)
    let simplified = "\(name)(ST_SimplifyPreserveTopology(geom, 12.5))"
    let figures = try spatiaLite(
      "SELECT printf('%d %.6f', fid, \(simplified)) FROM \(layer) ORDER BY fid")
    #expect(simple == figures.compactMap { $0[0].textValue })
    await store.close()
  }

  @Test(.enabled(if: Programs.shapelyPython != nil, Comment(rawValue: Programs.noShapelyPython)))
  func `unions of groups are shapely's`() async throws {
    let store = try await store()
    var layer = DerivedLayer("groups", of: .layer("areas"))
    layer.grouping = Grouping(by: ["kind"], [Aggregate(.count), Aggregate(.union)])
    let groups = try await store.deriving(layer)
    #expect(try await groups.schemas().first?.geometry?.srs == SRS("EPSG", 32632))
    var lines: [String] = []
    for try await feature in try await groups.query(Query()).features {
      guard case .text(let kind)? = feature.attributes["kind"], let geometry = feature.geometry,
        case .integer(let count)? = feature.attributes["count"]
      else { continue }
      lines.append("\(kind) \(count) \(WKB.bytes(of: geometry).hex)")
    }
    await groups.close()
    let ours = try package.folder.write(lines.joined(separator: "\n"), to: "unions.txt")
    let script = """
      import sqlite3, sys, shapely
      groups = {}
      for kind, blob in sqlite3.connect(sys.argv[1]).execute("SELECT kind, geom FROM areas"):
          size = {0: 0, 1: 32, 2: 48, 3: 48, 4: 64}[blob[3] >> 1 & 7]
          groups.setdefault(kind, []).append(shapely.from_wkb(blob[8 + size:]))
      for line in open(sys.argv[2]):
          kind, count, digits = line.split()
          ours, union = shapely.from_wkb(digits), shapely.unary_union(groups[kind])
          apart = shapely.symmetric_difference(ours, union).area
          print(kind, int(count) == len(groups[kind]), ours.is_valid, ours.equals(union), apart < 1e-6)
      """
    let result = try await Program.run(
      Programs.shapelyPython ?? "", ["-c", script, package.path, ours.path])
    #expect(
      result.output == (0..<4).map { "k\($0) True True True True\n" }.joined(), "\(result.error)")
    await store.close()
  }
}
