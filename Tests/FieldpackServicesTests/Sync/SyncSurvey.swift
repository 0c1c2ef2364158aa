import FieldpackCore
import FieldpackField
import FieldpackGeoPackage
import FieldpackGeometry
import FieldpackSQLite
import FieldpackServices
import FieldpackTestSupport
import Foundation

@testable import FieldpackServices

/// A file of wells and its copies, in a folder of their own.
final class SyncSurvey: Sendable {
  let folder: TemporaryFolder
  static let columns = ["name", "depth", "note", "state"]

  /// - Parameter copies: the names of the files, which are equal; each is opened as its own device.
  init(_ copies: [String] = ["office", "a", "b"], features: Int = 20) async throws {
    folder = try TemporaryFolder()
    let first = folder.file("\(copies[0]).gpkg").path
    let writer = try GeoPackageBulkWriter(creating: first, version: .v14, store: "survey")
    try writer.create(
      Schema(
        layer: "wells", geometry: GeometryColumn(type: .point),
        columns: [
          ColumnDefinition("name", .text()), ColumnDefinition("depth", .double),
          ColumnDefinition("note", .text()), ColumnDefinition("state", .integer),
        ]))
    _ = try writer.commit()
    let store = try await GeoPackageStore(path: first, id: "survey")
    try await store.write { (writer: GeoPackageWriter) throws(FieldpackError) in
      for index in 0..<features {
        try writer.create(
          Feature(
            geometry: .point(x: Double(index), y: 0),
            attributes: ["name": .text("well \(index)"), "depth": 10.5, "state": 0]), in: "wells")
      }
      _ = try writer.logEdits(of: "wells")
    }
    await store.close()
    for copy in copies.dropFirst() {
      try FileManager.default.copyItem(atPath: first, toPath: folder.file("\(copy).gpkg").path)
    }
  }

  func open(_ name: String) async throws -> GeoPackageStore {
    var profile = OpeningProfile.foreign
    profile.editor = Editor(author: "author \(name)", device: name)
    return try await GeoPackageStore(
      path: folder.file("\(name).gpkg").path, id: "survey", profile: profile)
  }
}

extension GeoPackageStore {
  /// The features by their identities, as text.
  func contents(of layer: LayerID = "wells") async throws -> [String: String] {
    try await read { (snapshot: GeoPackageSnapshot) throws(FieldpackError) in
      let log = try SyncService.log(of: layer, in: snapshot)
      var found: [String: String] = [:]
      for row in try snapshot.rows("SELECT fid FROM \(quoted(layer.rawValue))") {
        guard let id = row[0].integerValue, let values = try snapshot.row(id, of: log) else {
          continue
        }
        found[try log.identity(of: id)] = "\(log.row(log.valueColumns.map { values[$0] }))"
      }
      return found
    }
  }

  func texts(_ sql: String) async throws -> [String] {
    try await read { (snapshot: GeoPackageSnapshot) throws(FieldpackError) in
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
