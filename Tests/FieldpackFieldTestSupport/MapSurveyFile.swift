import FieldpackCore
package import FieldpackGeoPackage
import FieldpackGeometry

/// The survey that the page with the map is tested with: wells on a line from 0, 0 to 19, 9.5, coloured by
/// what they are used for, a square zone, and the motion of a device.
package enum MapSurveyFile {
  /// - Returns: the store of the new file.
  package static func make(at path: String) async throws -> GeoPackageStore {
    let writer = try GeoPackageBulkWriter(creating: path, version: .v14, store: "field")
    var use = ColumnDefinition("use", .text())
    use.constraint = .oneOf("drinking", "fire", named: "uses")
    try writer.create(
      Schema(
        layer: "wells", geometry: GeometryColumn(type: .point),
        columns: [ColumnDefinition("name", .text()), ColumnDefinition("depth", .double), use]))
    try writer.create(
      Schema(
        layer: "zones", geometry: GeometryColumn(type: .polygon),
        columns: [ColumnDefinition("name", .text())]))
    try writer.create(
      Schema(
        layer: "motion", geometry: GeometryColumn(type: .point),
        columns: [
          ColumnDefinition("time", .dateTime), ColumnDefinition("yaw", .double),
          ColumnDefinition("radius_m", .double),
        ]))
    _ = try writer.commit()
    let store = try await GeoPackageStore(path: path, id: "field")
    try await store.write { (writer: GeoPackageWriter) throws(FieldpackError) in
      for index in 0..<20 {
        var well = Feature(geometry: .point(x: Double(index), y: Double(index) / 2))
        // A page that shows this name as markup runs its script.
        well.attributes["name"] = .text(
          index == 1 ? "<img src=x onerror=alert(1)>" : "well \(index)")
        well.attributes["depth"] = .real(Double(index))
        well.attributes["use"] = .text(index.isMultiple(of: 2) ? "fire" : "drinking")
        try writer.create(well, in: "wells")
      }
      let ring = CoordinateSequence(
        dimensions: .xy, ordinates: [0.5, 0.5, 1.5, 0.5, 1.5, 1.5, 0.5, 1.5, 0.5, 0.5])
      try writer.create(
        Feature(geometry: .polygon([ring], .xy), attributes: ["name": "Kern"]), in: "zones")
      for second in 0..<5 {
        var point = Feature(geometry: .point(x: 6 + Double(second) / 10, y: 0))
        point.attributes["time"] = .dateTime(Instant(milliseconds: Int64(second) * 1000))
        point.attributes["yaw"] = .real(Double(second) / 4)
        point.attributes["radius_m"] = .real(5000)
        try writer.create(point, in: "motion")
      }
      for statement in style { try writer.execute(statement) }
    }
    return store
  }

  /// As QGIS stores a style with two categories.
  private static let style = [
    """
    CREATE TABLE layer_styles (id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
      f_table_catalog TEXT(256), f_table_schema TEXT(256), f_table_name TEXT(256),
      f_geometry_column TEXT(256), styleName TEXT(30), styleQML TEXT, styleSLD TEXT,
      useAsDefault BOOLEAN, description TEXT, owner TEXT(30), ui TEXT(30), update_time DATETIME)
    """,
    """
    INSERT INTO layer_styles (f_table_name, f_geometry_column, styleName, useAsDefault, styleQML)
    VALUES ('wells', 'geom', 'uses', 1, '<qgis><renderer-v2 type="categorizedSymbol" attr="use">
    <categories><category value="drinking" label="Drinking water" symbol="0" render="true"/>
    <category value="fire" label="Fire water" symbol="1" render="true"/></categories><symbols>
    <symbol name="0" type="marker"><layer class="SimpleMarker"><Option type="Map">
    <Option name="color" type="QString" value="31,120,180,255"/></Option></layer></symbol>
    <symbol name="1" type="marker"><layer class="SimpleMarker"><Option type="Map">
    <Option name="color" type="QString" value="227,26,28,255"/></Option></layer></symbol>
    </symbols></renderer-v2></qgis>')
    """,
  ]
}
