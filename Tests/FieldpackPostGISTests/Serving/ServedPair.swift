#if PostGIS && Server
  import Fieldpack
  import FieldpackCore
  import FieldpackFormats
  import FieldpackGeoPackage
  import FieldpackGeometry
  import FieldpackHTTP
  import FieldpackTestSupport
  import Foundation

  @testable import FieldpackPostGIS
  @testable import FieldpackServer

  /// The same features, served from a GeoPackage and from a database.
  final class ServedPair: Sendable {
    let folder: TemporaryFolder
    let schema: TestSchema
    let file: GeoPackageStore
    let database: PostGISStore
    private let servers: [FieldServer]
    /// The address of the server of the file, and that of the database.
    let addresses: [String]
    private let client: HTTPClient

    init(
      isWritable: Bool = false, requiresIfMatch: Bool = false, cluster: TestCluster? = nil
    ) async throws {
      var configuration = HTTPConfiguration()
      configuration.connectionsPerHost = 6
      client = try HTTPClient(configuration)
      folder = try TemporaryFolder()
      schema = if let cluster { try TestSchema(cluster) } else { try await TestSchema.make() }
      let path = folder.file("field.gpkg").path
      try await Self.fill(path)
      var profile = OpeningProfile.foreign
      profile.editor = Editor(author: "Ada")
      file = try await GeoPackageStore(path: path, id: "survey", profile: profile)
      database = schema.store()
      _ = try await StoreImport().run([ImportSource(path)], into: database)
      try schema.run(
        """
        ALTER TABLE wells ALTER name SET NOT NULL; ALTER TABLE wells ADD UNIQUE (name);
        COMMENT ON TABLE wells IS 'Layer wells'; COMMENT ON TABLE zones IS 'Layer zones';
        COMMENT ON TABLE notes IS 'Layer notes';
        """)
      var options = FieldServer.Options()
      options.title = "survey"
      options.isWritable = isWritable
      options.requiresIfMatch = requiresIfMatch
      servers = [
        FieldServer(of: file, options: options),
        FieldServer(ofDatabase: ServedPostGIS(database), options: options),
      ]
      var addresses: [String] = []
      for server in servers {
        addresses.append("http://\(try server.listen(on: ListenAddress(port: 0)))")
      }
      self.addresses = addresses
    }

    private static let wells = Schema(
      layer: "wells", geometry: GeometryColumn(type: .point),
      columns: [
        ColumnDefinition("name", .text(maximumLength: 40), isNullable: false, isUnique: true),
        ColumnDefinition("depth", .double), ColumnDefinition("visits", .mediumInt),
        ColumnDefinition("active", .boolean), ColumnDefinition("drilled", .date),
        ColumnDefinition("seen", .dateTime), ColumnDefinition("tags", .json),
        ColumnDefinition("state", .text(), isNullable: false, defaultSQL: "'new'"),
      ])

    private static func fill(_ path: String) async throws {
      let writer = try GeoPackageBulkWriter(creating: path, version: .v14, store: "survey")
      _ = try writer.commit()
      let store = try await GeoPackageStore(path: path, id: "survey", usesWAL: false)
      try await store.write { (writer: GeoPackageWriter) throws(FieldpackError) in
        try writer.createLayer(wells)
        try writer.createLayer(
          Schema(
            layer: "zones",
            geometry: GeometryColumn(type: .polygon, srs: SRS("EPSG", 25832)),
            columns: [ColumnDefinition("kind", .text())]))
        try writer.createLayer(
          Schema(layer: "notes", columns: [ColumnDefinition("text", .text())]))
        for index in 0..<40 { try writer.create(well(index), in: "wells") }
        for index in 0..<6 { try writer.create(zone(index), in: "zones") }
        try writer.create(Feature(attributes: ["text": .text("a note")]), in: "notes")
        // A database has no description that is empty.
        try writer.execute("UPDATE gpkg_contents SET description = 'Layer ' || table_name")
      }
      await store.close()
    }

    /// Points on a line from 0, 0 to 19.5, 9.75; the last has no place.
    private static func well(_ index: Int) -> Feature {
      let place = Double(index) / 2
      var feature = Feature(
        geometry: index == 39 ? nil : .point(x: place, y: place / 2),
        attributes: ["name": .text("well \(index)")])
      feature.attributes["depth"] = index % 5 == 0 ? .null : .real(Double(index % 7) + 0.25)
      feature.attributes["visits"] = .integer(Int64(index % 3))
      feature.attributes["active"] = index % 4 == 0 ? .null : .boolean(index % 2 == 0)
      feature.attributes["drilled"] = .date(CalendarDate(dayNumber: 19_000 + index))
      feature.attributes["seen"] = .dateTime(Instant(milliseconds: Int64(index) * 86_400_500))
      feature.attributes["tags"] = .text(#"["t\#(index % 3)",{"a":\#(index)}]"#)
      return feature
    }

    private static func zone(_ index: Int) -> Feature {
      let (x, y) = (450_000 + Double(index) * 1_000, 5_550_000.0)
      let ring = [(x, y), (x + 1_500, y), (x + 1_500, y + 1_500), (x, y + 1_500), (x, y)]
      let text = ring.map { "[\($0.0),\($0.1)]" }.joined(separator: ",")
      let json = #"{"type":"Polygon","coordinates":[[\#(text)]]}"#
      return Feature(
        geometry: try? Geometry(geoJSON: Array(json.utf8)),
        attributes: ["kind": .text(index % 2 == 0 ? "a" : "b")])
    }

    // MARK: Asking

    /// An answer without what differs from one server to the other, or from one moment to the next.
    struct Answer: Hashable, CustomStringConvertible {
      var status: Int
      var fields: [String]
      var body: String

      var description: String { "\(status) \(fields)\n\(body)" }
    }

    /// What the server of the database answers once it has looked at the tables again and knows a new one.
    func askUntilFound(_ path: String) async throws -> HTTPResponse {
      for _ in 0..<900 {
        let answer = try await ask(1, path)
        if answer.status != 404 { return answer }
        try await Task.sleep(for: .milliseconds(100))
      }
      return try await ask(1, path)
    }

    func ask(
      _ server: Int, _ path: String, _ method: String = "GET", fields: HTTPFields = [:],
      body: String? = nil
    ) async throws -> HTTPResponse {
      var fields = fields
      if body != nil, fields["Content-Type"] == nil {
        fields["Content-Type"] =
          method == "PATCH" ? "application/merge-patch+json" : "application/geo+json"
      }
      return try await client.send(
        HTTPRequest(
          .init(rawValue: method), addresses[server] + path, fields: fields,
          body: body.map { .bytes(Array($0.utf8)) } ?? .none))
    }

    func answer(
      _ server: Int, _ path: String, _ method: String = "GET", fields: HTTPFields = [:],
      body: String? = nil
    ) async throws -> Answer {
      let response = try await ask(server, path, method, fields: fields, body: body)
      var text = String(decoding: response.body, as: UTF8.self)
      text = text.replacing(addresses[server], with: "http://host")
      text = text.replacing(/"timeStamp": ?"[^"]*"/, with: "\"timeStamp\":\"\"")
      text = text.replacing(/<dt>timeStamp<\/dt><dd>[^<]*/, with: "")
      let kept = ["Content-Type", "Content-Crs", "Allow", "Vary", "Location", "Accept-Patch"]
      var shown = kept.compactMap { name in
        response.fields[name].map {
          "\(name): \($0.replacing(addresses[server], with: "http://host"))"
        }
      }
      // Tags of features are made of the features, those of lists of a version, and those of documents of
      // bytes with the address.
      if let tag = response.fields["ETag"], path.contains("/items/") {
        shown.append("ETag: \(tag)")
      }
      return Answer(status: response.status, fields: shown, body: text)
    }

    func close() async {
      for server in servers { await server.close() }
      await file.close()
      await database.close()
    }
  }

  extension JSONValue {
    var items: [JSONValue] { if case .array(let items) = self { items } else { [] } }
  }
#endif
