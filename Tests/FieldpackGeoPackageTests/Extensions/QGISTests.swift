import FieldpackCore
import FieldpackGeometry
import FieldpackTestSupport
import Testing

@testable import FieldpackGeoPackage

/// What QGIS sees of the extensions in files that we wrote.
///
/// QGIS is 900 MB, so `Scripts/test` does not install it: `apt install python3-qgis` enables these.
/// Debian's 3.22 does not know relations yet; `RelationTests` asks GDAL, from which later ones take
/// them.
@Suite(
  .programs, .enabled(if: Programs.qgisPython != nil, Comment(rawValue: Programs.noQGISPython)))
struct QGISTests {
  /// What a script prints that has QGIS's `core` names, the file's `path` and `layer(name)`.
  private func qgis(_ script: String, _ package: TestPackage) async throws -> [String] {
    let head = """
      import os, sys
      os.environ['QT_QPA_PLATFORM'] = 'offscreen'
      from qgis.core import *
      path = sys.argv[1]
      app = QgsApplication([], False)
      app.initQgis()
      def layer(name):
        layer = QgsVectorLayer(path + '|layername=' + name, name, 'ogr')
        assert layer.isValid(), name
        return layer

      """
    let result = try await Program.run(
      Programs.qgisPython ?? "", ["-c", head + script, package.path])
    #expect(result.status == 0, "\(result.error)")
    return result.output.split(separator: "\n").map(String.init)
  }

  @Test(arguments: GeoPackageVersion.allCases)
  func `sees the constraints of columns`(version: GeoPackageVersion) async throws {
    let lines = try await qgis(
      """
      wells = layer('wells')
      print(wells.featureCount(), wells.crs().authid(), QgsWkbTypes.displayString(wells.wkbType()))
      for field in wells.fields():
        setup = field.editorWidgetSetup()
        config = setup.config()
        print(field.name(), field.typeName(), setup.type(), sorted(map(str, config.get('map', []))),
          config.get('Min', ''), config.get('Max', ''))
      """, SchemaExtensionTests.package(version))
    #expect(
      lines == [
        "1 EPSG:4326 Point", "fid Integer64  []  ",
        "state String ValueMap [\"{'just found': 'new'}\", \"{'known': 'known'}\"]  ",
        "depth Real Range [] 0.0 250.5", "year String  []  ",
        "before String ValueMap [\"{'just found': 'new'}\", \"{'known': 'known'}\"]  ",
        "photo Binary  []  ", "tags JSON  []  ",
      ])
  }

  @Test(arguments: GeoPackageVersion.allCases)
  func `sees the layers of relations`(version: GeoPackageVersion) async throws {
    let lines = try await qgis(
      """
      for name in ['wells', 'photos', 'no"tes']:
        found = layer(name)
        print(name, found.featureCount(), [f.name() for f in found.fields()])
      print([len(f['data']) for f in layer('photos').getFeatures()])
      """, RelationTests.package(version))
    #expect(
      lines == [
        "wells 3 ['fid', 'name']", "photos 2 ['id', 'data', 'content_type', 'taken']",
        "no\"tes 2 ['key', 'text']", "[104, 3]",
      ])
  }

  @Test(arguments: GeoPackageVersion.allCases)
  func `sees the metadata of a layer`(version: GeoPackageVersion) async throws {
    let package = try await RelationTests.package(version)
    try await package.withStore { store in
      _ = try await store.write { (writer) throws(FieldpackError) in
        try writer.addMetadata(
          "<qgis><identifier>w-1</identifier><title>Wells &amp; springs</title></qgis>",
          standard: "http://mrcc.com/qgis.dtd", about: .layer("wells"))
      }
    }
    let lines = try await qgis(
      """
      wells = layer('wells')
      print(wells.metadata().title(), wells.metadata().identifier())
      """, package)
    #expect(lines == ["Wells & springs w-1"])
  }

  @Test(arguments: GeoPackageVersion.allCases)
  func `sees tiles of any matrix`(version: GeoPackageVersion) async throws {
    let lines = try await qgis(
      """
      raster = QgsRasterLayer('GPKG:' + path + ':odd', 'odd', 'gdal')
      print(raster.isValid(), raster.crs().authid(), raster.width(), raster.height(),
        round(raster.extent().width()), round(raster.extent().height()))
      """, TileTests.package(version))
    #expect(lines == ["True EPSG:25833 900 300 600 200"])
  }

  @Test(arguments: GeoPackageVersion.allCases)
  func `sees curves, heights and measures`(version: GeoPackageVersion) async throws {
    let package = try TestPackage(version)
    let geometries = try [
      "CIRCULARSTRING(0 0, 1 1, 2 0)", "POINT ZM(1 2 3 4)", "LINESTRING M(0 0 5, 1 1 6)",
      "CURVEPOLYGON(COMPOUNDCURVE(CIRCULARSTRING(0 0, 1 1, 2 0), (2 0, 0 0)))",
    ].map { try WKT.read($0) }
    try await package.withStore { store in
      try await store.write { (writer) throws(FieldpackError) in
        let column = GeometryColumn(srs: SRS("EPSG", 25833), z: .optional, m: .optional)
        try writer.createLayer(Schema(layer: "any", geometry: column))
        for geometry in geometries {
          try writer.create(Feature(geometry: geometry), in: "any")
        }
      }
    }
    let lines = try await qgis(
      """
      print(layer('any').crs().authid())
      for f in layer('any').getFeatures(): print(f.id(), f.geometry().asWkt(0))
      """, package)
    #expect(
      lines == [
        "EPSG:25833", "1 CircularString (0 0, 1 1, 2 0)", "2 PointZM (1 2 3 4)",
        "3 LineStringM (0 0 5, 1 1 6)",
        "4 CurvePolygon (CompoundCurve (CircularString (0 0, 1 1, 2 0),(2 0, 0 0)))",
      ])
  }
}
