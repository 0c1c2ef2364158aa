import FieldpackCheck
import FieldpackCore
import FieldpackGeometry
import FieldpackTestSupport
import Testing

@testable import FieldpackGeoPackage

/// Other programs edit a logged layer, and the log has their edits.
@Suite(.programs) struct ForeignEditTests {
  private static let edits =
    "SELECT audit_op, fid, name, author, sent IS NULL FROM points_audit ORDER BY audit_id"

  @Test(.enabled(if: Programs.gdalPython != nil, Comment(rawValue: Programs.noGDALPython)))
  func `GDAL's edits are logged`() async throws {
    let package = try await EditLogTests.package()
    _ = try await GDALChecks.python(
      """
      gdal.PushErrorHandler('CPLQuietErrorHandler')
      file = gdal.OpenEx(path, gdal.OF_UPDATE)
      layer = file.GetLayerByName('points')
      feature = layer.GetFeature(1)
      feature['name'] = 'uno'
      layer.SetFeature(feature)
      layer.DeleteFeature(2)
      new = ogr.Feature(layer.GetLayerDefn())
      new['name'] = 'tre'
      new.SetGeometry(ogr.CreateGeometryFromWkt('POINT (3 0)'))
      layer.CreateFeature(new)
      file.ExecuteSQL("UPDATE points SET name = 'drei' WHERE fid = 3")
      """, package)
    #expect(
      try package.rows(Self.edits) == [
        "0|1|one|NULL|0", "2|1|uno|NULL|1", "3|2|two|NULL|1", "1|3|tre|NULL|1",
        "2|3|drei|NULL|1",
      ])
    #expect(try package.faults() == [])
  }

  @Test(.enabled(if: Programs.gdalPython != nil, Comment(rawValue: Programs.noGDALPython)))
  func `the log follows a layer that GDAL renames`() async throws {
    // GDAL 3.6 cannot rename a layer with the R-tree triggers of version 1.4.
    let points = Schema(
      layer: "points", geometry: GeometryColumn(type: .point),
      columns: [ColumnDefinition("name", .text())])
    let (package, repaired) = (try TestPackage(.v12, [points]), try TestPackage(.v12, [points]))
    for package in [package, repaired] {
      try package.run("INSERT INTO points (name) VALUES ('one'), ('two')")
      try await package.withStore { store in
        try await store.write { (writer) throws(FieldpackError) in
          try writer.enableLog(of: "points")
        }
      }
      _ = try await GDALChecks.python(
        """
        gdal.PushErrorHandler('CPLQuietErrorHandler')
        file = gdal.OpenEx(path, gdal.OF_UPDATE)
        file.GetLayerByName('points').Rename('wells')
        file.ExecuteSQL("UPDATE wells SET name = 'uno' WHERE fid = 1")
        """, package)
    }
    try await package.withStore(EditLogTests.editor) { store in
      try await store.write { (writer) throws(FieldpackError) in
        try writer.update(.integer(2), in: "wells", set: ["name": "due"])
        #expect(try writer.loggedLayers() == ["wells"])
      }
    }
    var options = CheckOptions()
    options.repairs = true
    let checker = try GeoPackageChecker(path: repaired.path, store: "survey", options: options)
    #expect(try checker.run().groups.isEmpty)
    try repaired.run("UPDATE wells SET name = 'due' WHERE fid = 2")
    for package in [package, repaired] {
      #expect(
        try package.rows("SELECT audit_op, name FROM wells_audit ORDER BY audit_id")
          == ["0|one", "2|uno", "0|two", "2|due"])
      #expect(try package.rows("SELECT name FROM sqlite_master WHERE name LIKE 'points%'") == [])
      #expect(try package.faults() == [])
    }
  }

  @Test(.enabled(if: Programs.ogr2ogr != nil, Comment(rawValue: Programs.noOGR)))
  func `ogr2ogr appends to a logged layer`() async throws {
    let package = try await EditLogTests.package()
    let source = try await TestPackage(
      points: [Feature(geometry: .point(x: 7, y: 7), attributes: ["name": "seven"])], "")
    let result = try await Program.run(
      "ogr2ogr", ["-append", package.path, source.path, "points", "-unsetFid"])
    #expect(result.status == 0, "\(result)")
    #expect(try package.rows(Self.edits) == ["1|3|seven|NULL|1"])
    try await GDALChecks.expectValid(package, .v14)
  }

  @Test(
    .enabled(if: Programs.arrowPython != nil, Comment(rawValue: Programs.noArrowPython)))
  func `pyogrio appends to a logged layer`() async throws {
    let package = try await EditLogTests.package()
    let script = """
      import sys, pyogrio, pyarrow as pa
      wkb = bytes.fromhex('01010000000000000000001c400000000000001c40')
      table = pa.table({'name': ['seven'], 'geom': [wkb]})
      pyogrio.write_arrow(table, sys.argv[1], layer='points', driver='GPKG', append=True,
        geometry_name='geom', geometry_type='Point', crs='EPSG:4326')
      print([str(name) for name, kind in pyogrio.list_layers(sys.argv[1])])
      """
    let result = try await Program.run(
      Programs.arrowPython ?? "", ["-c", script, package.path])
    #expect(result.output == "['points']\n", "\(result)")
    #expect(try package.rows(Self.edits) == ["1|3|seven|NULL|1"])
  }

  /// QGIS writes through GDAL: it changes attributes and geometries apart, and deletes by ids.
  @Test(.enabled(if: Programs.qgisPython != nil, Comment(rawValue: Programs.noQGISPython)))
  func `QGIS's edits are logged`() async throws {
    let package = try await EditLogTests.package()
    let script = """
      import os, sys
      os.environ['QT_QPA_PLATFORM'] = 'offscreen'
      from qgis.core import *
      app = QgsApplication([], False)
      app.initQgis()
      layer = QgsVectorLayer(sys.argv[1] + '|layername=points', 'points', 'ogr')
      assert layer.isValid() and layer.startEditing()
      layer.changeAttributeValue(1, layer.fields().indexOf('name'), 'uno')
      layer.changeGeometry(1, QgsGeometry.fromWkt('Point (9 9)'))
      layer.deleteFeature(2)
      new = QgsFeature(layer.fields())
      new['name'] = 'tre'
      new.setGeometry(QgsGeometry.fromWkt('Point (3 0)'))
      layer.addFeature(new)
      assert layer.commitChanges(), layer.commitErrors()
      print([f['name'] for f in layer.getFeatures()])
      """
    let result = try await Program.run(
      Programs.qgisPython ?? "", ["-c", script, package.path])
    #expect(result.status == 0 && result.output == "['uno', 'tre']\n", "\(result)")
    let rows = try package.rows(Self.edits)
    #expect(rows.first == "0|1|one|NULL|0")
    #expect(Set(rows.dropFirst()).isSuperset(of: ["2|1|uno|NULL|1", "3|2|two|NULL|1"]))
    #expect(rows.contains { $0.hasPrefix("1|3|tre") })
    let moved = try package.rows(
      "SELECT ST_MinX(geom) FROM points_audit WHERE fid = 1 ORDER BY audit_id DESC LIMIT 1")
    #expect(moved == ["9.0"])
    #expect(try package.faults() == [])
  }
}
