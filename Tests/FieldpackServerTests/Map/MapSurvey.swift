import FieldpackCore
import FieldpackGeoPackage
import FieldpackGeometry
import FieldpackHTTP
import FieldpackMedia
import FieldpackTestSupport
import Foundation

@testable import FieldpackServer

#if Server
  /// A served survey for the page with the map: wells on a line from 0, 0 to 19, 9.5, coloured by
  /// what they are used for, a square zone, and the motion of a device.
  final class MapSurvey: Sendable {
    let folder: TemporaryFolder
    let store: GeoPackageStore
    let server: FieldServer
    let address: String
    private let client: HTTPClient

    /// - Parameter pictures: whether the eastern half of the world has an orange picture.
    init(pictures: Bool = false) async throws {
      client = try HTTPClient()
      folder = try TemporaryFolder()
      let path = folder.file("field.gpkg").path
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
      store = try await GeoPackageStore(path: path, id: "field")
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
        for statement in Self.style { try writer.execute(statement) }
        if pictures { try Self.addPicture(writer) }
      }
      var options = FieldServer.Options()
      options.title = "field"
      options.isWritable = true
      server = FieldServer(of: store, options: options)
      address = "http://\(try server.listen(on: ListenAddress(port: 0)))"
    }

    /// A world of two tiles in degrees, of which there is the eastern one.
    private static func addPicture(_ writer: GeoPackageWriter) throws(FieldpackError) {
      var pyramid = TilePyramid(
        "ortho", srs: .wgs84, bounds: Envelope(minX: -180, minY: -90, maxX: 180, maxY: 90),
        zooms: 0...1, width: 2)
      pyramid.title = "Orange"
      pyramid.description = "© <a href='https://example.org'>Survey</a>"
      try writer.createTilePyramid(pyramid)
      var bitmap = Bitmap(PictureSize(width: 256, height: 256))
      for index in bitmap.bytes.indices { bitmap.bytes[index] = [240, 140, 20, 255][index % 4] }
      try writer.putTile(
        try PNGEncoder.bytes(of: bitmap), at: TileAddress(zoom: 0, column: 1, row: 0), of: "ortho")
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

    func get(_ path: String, fields: HTTPFields = [:]) async throws -> TestServer.Answer {
      let response = try await client.send(HTTPRequest(.get, address + path, fields: fields))
      return .init(status: response.status, fields: response.fields, body: response.body)
    }

    func close() async {
      await server.close()
      await store.close()
    }
  }
#endif
