import FieldpackCore
import FieldpackGeoPackage
import FieldpackGeometry
import FieldpackTestSupport
import FieldpackTopology
import Foundation
import Testing

@testable import FieldpackTiles

/// GDAL reads our tiles, and cuts the same features itself.
@Suite(
  .programs,
  .enabled(if: Programs.ogr2ogr != nil, Comment(rawValue: Programs.noOGR)))
struct ForeignVectorTileTests {
  /// The features of a layer by their ids, in Web Mercator.
  private typealias Shapes = [Int64: (geometry: Geometry, attributes: Attributes)]

  private func shapes(_ path: String, _ layer: LayerID, id: String?) async throws -> Shapes {
    try await FeaturePackage.withStore(path) { store in
      var shapes: Shapes = [:]
      for try await feature in try await store.query(Query(layer)).features {
        guard let geometry = feature.geometry else { continue }
        var attributes = feature.attributes
        var number: Int64?
        if case .integer(let own)? = feature.id { number = own }
        if let id, case .integer(let given)? = attributes[id] { number = given }
        if let id { attributes[id] = nil }
        shapes[try #require(number)] = (geometry, attributes)
      }
      return shapes
    }
  }

  private func convert(_ folder: TemporaryFolder, _ arguments: [String]) async throws {
    let result = try await Program.run(
      Programs.ogr2ogr ?? "", ["-f", "GPKG"] + arguments, folder: folder.url)
    #expect(result.status == 0, "\(result.error)")
  }

  /// Writes a tile, has GDAL read it and cut the source to the same area, and compares both.
  private func compare(
    _ path: String, _ layer: LayerID, _ address: TileAddress,
    sourceLocation: SourceLocation = #_sourceLocation
  ) async throws -> Int {
    let folder = try TemporaryFolder()
    let tile = try await FeaturePackage.withStore(path) { store in
      try await store.vectorTile(of: layer, at: address)
    }
    // GDAL knows the place of a tile by the names of its folders.
    let place = "\(address.zoom)/\(address.column)"
    try FileManager.default.createDirectory(
      at: folder.file(place), withIntermediateDirectories: true)
    try Data(tile.bytes).write(to: folder.file("\(place)/\(address.row).mvt"))
    try await convert(
      folder, ["tile.gpkg", "\(place)/\(address.row).mvt", "-oo", "CLIP=NO", "-nln", "a"])
    let area = try #require(WebMercator.envelope(of: address))
    let step = area.width / 4_096
    let wide = [area.minX, area.minY, area.maxX, area.maxY].enumerated()
      .map { "\($1 + ($0 < 2 ? -64 : 64) * step)" }
    try await convert(
      folder,
      ["source.gpkg", path, layer.rawValue, "-nln", "a", "-t_srs", "EPSG:3857", "-clipdst"] + wide
        + ["-preserve_fid", "-nlt", "PROMOTE_TO_MULTI"])
    let found = try await shapes(folder.file("tile.gpkg").path, "a", id: "mvt_id")
    let wanted = try await shapes(folder.file("source.gpkg").path, "a", id: nil)
    // GDAL cannot cut a polygon that is invalid in Web Mercator, which a tile has mended.
    try await convert(
      folder,
      ["whole.gpkg", path, layer.rawValue, "-nln", "a", "-t_srs", "EPSG:3857", "-preserve_fid"])
    let sources = try await shapes(folder.file("whole.gpkg").path, "a", id: nil)
    for (id, shape) in found {
      if wanted[id] == nil, try sources[id]?.geometry.validity() != .valid { continue }
      let source = try #require(wanted[id], "feature \(id)", sourceLocation: sourceLocation)
      #expect(
        try fault(shape.geometry, source.geometry, step) == nil,
        "feature \(id) of \(layer) in \(address)", sourceLocation: sourceLocation)
      for attribute in shape.attributes.elements where !attribute.value.isNull {
        let (name, value) = (attribute.name, attribute.value)
        #expect(
          Self.plain(value) == Self.plain(source.attributes[name] ?? .null), "\(name) of \(id)",
          sourceLocation: sourceLocation)
      }
    }
    // What is left out is smaller than a step.
    for (id, shape) in wanted where found[id] == nil {
      let isThin = shape.geometry.area() <= 1.5 * step * (shape.geometry.perimeter() + step)
      let isShort = shape.geometry.length() <= 2 * step
      #expect(
        ![.point, .multiPoint].contains(shape.geometry.type) && isThin && isShort, "feature \(id)",
        sourceLocation: sourceLocation)
    }
    return found.count
  }

  /// A value as both files have it: flags are numbers, and moments texts.
  private static func plain(_ value: Value) -> String {
    switch value {
    case .boolean(let flag): flag ? "1" : "0"
    case .integer(let number): "\(number)"
    case .real(let number): number == number.rounded() ? "\(Int64(number))" : "\(number)"
    case .text(let text): text
    case .date(let date): "\(date)"
    case .dateTime(let instant): "\(instant)"
    default: "\(value)"
    }
  }

  /// How far the geometries are from each other where they should not be, in words; `nil` where all is
  /// well.
  ///
  /// Half a step is for what simplifying leaves out, and half a step in x and in y for rounding.
  private func fault(_ found: Geometry, _ wanted: Geometry, _ step: Double) throws -> String? {
    let context = try TopologyContext()
    let (first, second) = (try lines(found, context), try lines(wanted, context))
    let far = try distance(from: first, to: second, context) / step
    if far > 0.5 + 0.5.squareRoot() + 0.01 { return "a position is \(far) steps from the source" }
    guard found.type == .multiPolygon || found.type == .polygon else {
      let back =
        try distance(from: try lines(long(wanted, step), context), to: first, context) / step
      return back > 0.5 + 0.5.squareRoot() + 0.01 ? "the source is \(back) steps away" : nil
    }
    // Parts of polygons that have no width on the grid are left out, so that areas tell more.
    let area = try found.symmetricDifference(wanted.madeValid()).area() / (step * step)
    let limit = 0.75 * wanted.perimeter() / step + 4
    return area > limit ? "\(area) squares differ, of \(limit)" : nil
  }

  /// The geometry without the lines that are so short that they may vanish on the grid.
  private func long(_ geometry: Geometry, _ step: Double) -> Geometry {
    guard case .multiLineString(let lines, let dimensions) = geometry else { return geometry }
    return .multiLineString(
      lines.filter { Geometry.lineString($0).length() > 2 * step }, dimensions)
  }

  private func distance(
    from a: TopologyGeometry, to b: TopologyGeometry, _ context: TopologyContext
  ) throws -> Double {
    var farthest = 0.0
    for position in try positions(a.geometry()) {
      let point = try context.read(.point(position, .xy))
      farthest = max(farthest, try point.distance(to: b) ?? .infinity)
    }
    return farthest
  }

  private func lines(
    _ geometry: Geometry, _ context: TopologyContext
  ) throws -> TopologyGeometry {
    let shape = try context.read(geometry)
    let isArea = geometry.type == .polygon || geometry.type == .multiPolygon
    return isArea ? try shape.boundary() : shape
  }

  private func positions(_ geometry: Geometry) -> [Position] {
    switch geometry {
    case .point(let position?, _): [position]
    case .multiPoint(let points, _): points.compactMap(\.self)
    case .lineString(let line): Array(line)
    case .multiLineString(let lines, _): lines.flatMap { Array($0) }
    default: []
    }
  }

  // MARK: Layers

  private static func package() async throws -> FeaturePackage {
    var random = FilterGenerator.SplitMix(state: 11)
    func place() -> SIMD2<Double> {
      SIMD2(.random(in: 13...14.4, using: &random), .random(in: 51.9...52.6, using: &random))
    }
    var layers: [(schema: Schema, features: [Feature])] = []
    for (layer, type) in [
      ("points", GeometryType.point), ("lines", .lineString), ("polygons", .polygon),
    ] {
      let schema = Schema(
        layer: LayerID(layer), geometry: GeometryColumn(type: type),
        columns: [
          .init("name", .text()), .init("size", .double), .init("count", .integer),
          .init("open", .boolean), .init("day", .date),
        ])
      let features = (1...400).map { number -> Feature in
        let middle = place()
        let star = TilePolygonTests.star(middle, 0.002 * Double(number % 40), 12, &random)
        let geometry: Geometry =
          switch type {
          case .point: .point(x: middle.x, y: middle.y)
          case .lineString: .lineString(TilePolygonTests.sequence(star.dropLast(3)))
          default: .polygon([TilePolygonTests.sequence(star)], .xy)
          }
        return Feature(
          id: .integer(Int64(number)), geometry: geometry,
          attributes: [
            "name": "n\(number)é", "size": Double(number) / 8, "count": Int64(200 - number),
            "open": number % 2 == 0, "day": .date(CalendarDate(dayNumber: 19_800 + number)),
          ])
      }
      layers.append((schema, features))
    }
    return try await FeaturePackage(layers)
  }

  @Test func `tiles have what GDAL cuts out of the layers`() async throws {
    let package = try await Self.package()
    for layer in ["points", "lines", "polygons"] as [LayerID] {
      for address in [
        TileAddress(zoom: 9, column: 275, row: 168), TileAddress(zoom: 11, column: 1_101, row: 673),
        TileAddress(zoom: 6, column: 34, row: 20), TileAddress(zoom: 6, column: 34, row: 21),
      ] {
        _ = try await compare(package.path, layer, address)
      }
      #expect(
        try await compare(package.path, layer, .init(zoom: 8, column: 137, row: 84)) > 100)
    }
  }

  @Test(
    .enabled(if: SharedData.isPresent, Comment(rawValue: SharedData.absent)),
    arguments: [
      ("ne_110m_admin_0_countries_from_shp.gpkg", TileAddress(zoom: 2, column: 2, row: 1)),
      ("ne_110m_admin_0_countries_from_shp.gpkg", TileAddress(zoom: 5, column: 16, row: 10)),
      ("kart_nz-pa-points-topo-150k.gpkg", TileAddress(zoom: 6, column: 62, row: 39)),
    ])
  func `tiles of real layers have what GDAL cuts out of them`(
    file: String, address: TileAddress
  ) async throws {
    let path = SharedData.url("real/gpkg/\(file)").path
    let folder = try TemporaryFolder()
    let copy = folder.file("copy.gpkg").path
    try FileManager.default.copyItem(atPath: path, toPath: copy)
    let layer = try await FeaturePackage.withStore(copy) { store in
      try await store.layers().first { $0.schema.geometry != nil && $0.featureCount ?? 0 > 0 }?.id
    }
    #expect(try await compare(copy, try #require(layer), address) > 0)
  }
}
