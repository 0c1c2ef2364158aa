import FieldpackCore
import FieldpackGeoPackage
import FieldpackGeometry
import FieldpackHTTP
import FieldpackSQLite
import FieldpackTestSupport
import Foundation

@testable import FieldpackServer

/// Adds layers with rules to a served file, and sends edits to it.
extension TestServer {
  /// `sites` has a column of each type and rule, `plots` is in UTM, `paths` has M, `notes` no geometry, and
  /// `names` is a view.
  static func withRules(
    requiresIfMatch: Bool = false, isWritable: Bool = true, busyTimeout: Duration = .seconds(5)
  ) async throws -> TestServer {
    var profile = OpeningProfile.foreign
    profile.editor = Editor(author: "Ada")
    let server = try await TestServer(
      isWritable: isWritable, requiresIfMatch: requiresIfMatch, profile: profile,
      busyTimeout: busyTimeout)
    try await server.store.write { (writer: GeoPackageWriter) throws(FieldpackError) in
      try writer.createLayer(sites)
      try writer.execute(
        "ALTER TABLE sites ADD COLUMN label TEXT GENERATED ALWAYS AS (upper(name)) VIRTUAL")
      try writer.createLayer(
        Schema(
          layer: "plots",
          geometry: GeometryColumn(type: .multiPolygon, srs: SRS("EPSG", 25832), z: .optional),
          columns: [ColumnDefinition("use", .text(), isNullable: false, defaultSQL: "'none'")]))
      try writer.createLayer(
        Schema(
          layer: "paths", geometry: GeometryColumn(type: .lineString, m: .optional),
          columns: [ColumnDefinition("name", .text())]))
      try writer.createLayer(Schema(layer: "notes", columns: [ColumnDefinition("text", .text())]))
      try writer.execute("CREATE VIEW names AS SELECT fid, name FROM wells")
      try writer.execute(
        "INSERT INTO gpkg_contents (table_name, data_type, identifier) "
          + "VALUES ('names', 'attributes', 'names')")
    }
    try await server.store.write { (writer: GeoPackageWriter) throws(FieldpackError) in
      _ = try writer.logEdits(of: "sites")
    }
    return server
  }

  private static let sites = Schema(
    layer: "sites", geometry: GeometryColumn(type: .point, srs: .wgs84, z: .optional),
    columns: [
      ColumnDefinition("name", .text(maximumLength: 20), isNullable: false, isUnique: true),
      ColumnDefinition("depth", .double, constraint: .range(0...500, named: "depths")),
      ColumnDefinition("state", .text(), constraint: .oneOf("new", "known", named: "states")),
      ColumnDefinition("visits", .smallInt), ColumnDefinition("dry", .boolean),
      ColumnDefinition("drilled", .date), ColumnDefinition("seen", .dateTime),
      ColumnDefinition("tags", .json), ColumnDefinition("photo", .blob(maximumLength: 8)),
    ])

  /// Sends an edit with the media type that its method has.
  func edit(
    _ method: String, _ path: String, _ body: String? = nil, fields: HTTPFields = [:]
  ) async throws -> Answer {
    var fields = fields
    if body != nil, fields["Content-Type"] == nil {
      fields["Content-Type"] =
        method == "PATCH" ? "application/merge-patch+json" : "application/geo+json"
    }
    return try await get("/collections/\(path)", method, fields: fields, body: body)
  }

  /// Creates a site, and gives its address below `/collections/`.
  func addSite(_ name: String, _ rest: String = "") async throws -> String {
    let answer = try await edit("POST", "sites/items", Self.site(name, rest))
    guard answer.status == 201, let location = answer.fields["Location"] else {
      throw FieldpackError(.invalidData, "\(answer.status): \(answer.text)")
    }
    return String(location.dropFirst((address + "/collections/").count))
  }

  static func site(_ name: String, _ rest: String = "") -> String {
    #"{"type":"Feature","geometry":{"type":"Point","coordinates":[7.5,51.25]},"#
      + #""properties":{"name":"\#(name)"\#(rest)}}"#
  }

  /// The members of the feature that are no links.
  func feature(_ path: String) async throws -> String {
    let answer = try await get("/collections/\(path)")
    guard answer.status == 200 else { return "\(answer.status)" }
    let text = answer.text
    return text.firstRange(of: #","links":"#).map { text[..<$0.lowerBound] + "}" } ?? text
  }

  /// Values of the file, by SQL, with `|` between columns.
  func texts(_ sql: String) async throws -> [String] {
    try await store.read { (snapshot: GeoPackageSnapshot) throws(FieldpackError) in
      try snapshot.rows(sql).map { row in
        row.map { value in
          switch value {
          case .null: "NULL"
          case .integer(let number): "\(number)"
          case .real(let number): "\(number)"
          case .text(let text): text
          case .blob(let bytes): "\(bytes.count) bytes"
          }
        }.joined(separator: "|")
      }
    }
  }
}
