import FieldpackCore
import FieldpackGeometry
import FieldpackSQLite
import FieldpackTestSupport
import Foundation

@testable import FieldpackGeoPackage

/// GeoPackages that are made to do harm, each from the same sound one.
struct HostilePackages {
  private let folder: TemporaryFolder
  let sound: URL

  /// - Throws: where the sound file cannot be made.
  init() async throws {
    folder = try TemporaryFolder()
    sound = folder.file("sound.gpkg")
    let writer = try GeoPackageBulkWriter(creating: sound.path, store: "sound")
    _ = try writer.commit()
    let store = try await GeoPackageStore(path: sound.path, id: "sound")
    try await store.write { (writer) throws(FieldpackError) in
      try writer.createLayer(
        Schema(
          layer: "cases", geometry: GeometryColumn(type: .geometry),
          columns: [ColumnDefinition("name", .text())]))
      for x in 1...400 {
        let geometry = line(Double(x), 0, Double(x), 9)
        try writer.create(
          Feature(geometry: geometry, attributes: ["name": .text("line \(x)")]), in: "cases")
      }
    }
    await store.close()
  }

  /// Changes to the bytes, by name.
  private static let damages: [(String, @Sendable (inout Data) -> Void)] = [
    ("half", { $0 = $0.prefix($0.count / 2) }),
    ("page-and-a-bit", { $0 = $0.prefix(4_100) }),
    ("zeros", { $0 = Data(repeating: 0, count: $0.count) }),
    ("header-only", { $0 = $0.prefix(100) }),
    ("claims-pages", { $0.replaceSubrange(28..<32, with: [0x7F, 0xFF, 0xFF, 0xFF]) }),
    ("page-size-1", { $0.replaceSubrange(16..<18, with: [0, 1]) }),
    ("free-list-loop", { $0.replaceSubrange(32..<40, with: [0, 0, 0, 2, 0, 0, 0xFF, 0xFF]) }),
    ("schema-format-9", { $0.replaceSubrange(44..<48, with: [0, 0, 0, 9]) }),
    ("no-encoding", { $0.replaceSubrange(56..<60, with: [0, 0, 0, 7]) }),
    ("schema-cells", { $0.replaceSubrange(103..<105, with: [0xFF, 0xFF]) }),
  ]

  /// Changes by SQL, by name.
  private static let scripts: [(String, String)] = [
    (
      "endless-view",
      view(
        "WITH RECURSIVE n (fid) AS (SELECT 1 UNION ALL SELECT fid + 1 FROM n) "
          + "SELECT fid FROM n LIMIT 100000")
    ),
    (
      "endless-systems",
      "ALTER TABLE gpkg_spatial_ref_sys RENAME TO systems; CREATE VIEW gpkg_spatial_ref_sys AS "
        + "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
        + "SELECT 'name' AS srs_name, i AS srs_id, 'me' AS organization, i AS organization_coordsys_id, "
        + "'undefined' AS definition, NULL AS description FROM n"
    ),
    (
      "long-systems",
      "ALTER TABLE gpkg_spatial_ref_sys RENAME TO systems; CREATE VIEW gpkg_spatial_ref_sys AS "
        + "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
        + "SELECT hex(zeroblob(1000000)) AS srs_name, i AS srs_id, 'me' AS organization, "
        + "i AS organization_coordsys_id, hex(zeroblob(1000000)) AS definition, NULL AS description "
        + "FROM n"
    ),
    ("view-of-itself", view("SELECT 1 AS fid FROM evil")),
    ("wide-view", view("SELECT 1 AS fid, zeroblob(1000000000) AS bytes")),
    (
      "long-pattern", view("SELECT 1 AS fid, 'a' LIKE replace(hex(zeroblob(3000)), '0', '%a') AS t")
    ),
    (
      "generated",
      "CREATE TABLE evil (fid INTEGER PRIMARY KEY, bytes AS (zeroblob(900000000))); "
        + "INSERT INTO evil (fid) VALUES (1); " + contents
    ),
    ("depth-33", geometry(nested(33))), ("depth-100000", geometry(nested(100_000))),
    ("claims-points", geometry("0102000000FFFFFF7F")),
    ("claims-rings", geometry("0103000000FFFFFFFF")),
    ("claims-parts", geometry("0107000000FFFFFFFF")),
    ("unknown-type", geometry("01FF0000FF00000000")),
    ("numbers", "UPDATE cases SET geom = fid; "),
    ("texts", "UPDATE cases SET geom = 'GP' || fid; "),
    (
      "many-layers",
      "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 20000) "
        + "INSERT INTO gpkg_contents (table_name, data_type, identifier) "
        + "SELECT 'no' || i, 'features', i FROM n; "
    ),
    ("index-of-nobody", "UPDATE rtree_cases_geom_rowid SET rowid = rowid + 1000000000; "),
    ("index-nodes", "UPDATE rtree_cases_geom_node SET data = randomblob(length(data)); "),
    (
      "index-loop",
      "UPDATE rtree_cases_geom_node SET data = "
        + "x'0028' || substr(data, 3) WHERE nodeno = 1; "
    ),
  ]

  private static let contents =
    "INSERT INTO gpkg_contents (table_name, data_type, identifier) VALUES ('evil', 'attributes', 'e')"

  private static func view(_ select: String) -> String {
    "CREATE VIEW evil AS \(select); \(contents)"
  }

  /// Puts a body behind a header without envelope into a row, past the triggers.
  private static func geometry(_ hex: String) -> String {
    "UPDATE cases SET geom = x'4750000100000000\(hex)' WHERE fid = 7"
  }

  /// Collections within each other, the innermost empty.
  static func nested(_ depth: Int) -> String {
    String(repeating: "010700000001000000", count: depth - 1) + "010700000000000000"
  }

  /// Every file by its name.
  func all() throws -> [(name: String, file: URL)] {
    var files: [(String, URL)] = []
    let whole = try Data(contentsOf: sound)
    for (name, damage) in Self.damages {
      var bytes = whole
      damage(&bytes)
      files.append(try write(bytes, name))
    }
    for page in 0..<whole.count / 4_096 {
      var bytes = whole
      bytes.replaceSubrange(
        page * 4_096 + (page == 0 ? 100 : 0)..<(page + 1) * 4_096,
        with: repeatElement(0xFF, count: page == 0 ? 3_996 : 4_096))
      files.append(try write(bytes, "page-\(page + 1)"))
    }
    for (name, script) in Self.scripts {
      let file = try write(whole, name).1
      let connection = try Connection(path: file.path, mode: .readWrite, profile: .bulk)
      for trigger in RTreeSQL(table: "cases", column: "geom", idColumn: "fid").triggerNames {
        try connection.execute("DROP TRIGGER IF EXISTS \(quoted(trigger))")
      }
      try connection.executeScript(script)
      files.append((name, file))
    }
    return files
  }

  private func write(_ bytes: Data, _ name: String) throws -> (String, URL) {
    let file = folder.file(name + ".gpkg")
    try bytes.write(to: file)
    return (name, file)
  }
}
