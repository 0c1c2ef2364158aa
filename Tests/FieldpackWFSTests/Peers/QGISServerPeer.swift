import FieldpackCore
import FieldpackGeoPackage
import FieldpackGeometry
import FieldpackHTTP
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackWFS

/// QGIS Server as a program that listens on loopback. Each project is a GeoPackage in a folder.
///
/// The program waits for as many letters as a document has bytes, so documents have to be ASCII.
final class QGISServerPeer: Sendable {
  private let folder: TemporaryFolder
  private let program: Program
  private let server: String

  init() async throws {
    folder = try TemporaryFolder()
    program = try Program(
      "qgis_mapserver", ["127.0.0.1:0"],
      environment: ["QT_QPA_PLATFORM": "offscreen", "HOME": folder.url.path])
    try await program.wait(for: "listening") { [program] in
      program.outputSoFar.contains("CTRL+C")
    }
    let words = program.outputSoFar.split(whereSeparator: \.isWhitespace)
    server = String(try #require(words.first { $0.hasPrefix("http://127.0.0.1:") }))
  }

  func stop() async {
    program.send(SIGKILL)
    _ = try? await program.result()
  }

  /// A project with the layers.
  ///
  /// - Parameter rights: what may be done to them.
  /// - Returns: a store, and the GeoPackage behind it.
  func project(
    _ name: String, _ layers: [(Schema, [Feature])], rights: [String]
  ) async throws -> (store: WFSStore, truth: GeoPackageStore) {
    let package = folder.file(name + ".gpkg").path
    try PeerLayers.write(layers, to: package)
    let schemas = layers.map(\.0)
    let text = Self.document(schemas, package, rights)
    let project = try folder.write(text, to: name + ".qgs").path
    let service = WFSService(
      store: "survey", version: .wfs20, address: server + "/?MAP=" + project,
      connection: try WFSConnection(client: HTTPClient(), logger: .silent, fields: [:]))
    return (try WFSStore(service), try await GeoPackageStore(path: package, id: "survey"))
  }

  private static func document(
    _ schemas: [Schema], _ package: String, _ rights: [String]
  ) -> String {
    let layers = schemas.map { schema in
      let srs = schema.geometry?.srs ?? .wgs84
      // The column of ids would be a column of its own.
      return """
        <maplayer type="vector">
          <id>\(id(schema.layer))</id>
          <datasource>\(package)|layername=\(schema.layer)</datasource>
          <layername>\(schema.layer)</layername>
          <srs><spatialrefsys>
            <srid>\(srs.code)</srid><authid>EPSG:\(srs.code)</authid>
          </spatialrefsys></srs>
          <provider encoding="UTF-8">ogr</provider>
          <fieldConfiguration>
            <field name="fid" configurationFlags="HideFromWfs"/>
          </fieldConfiguration>
          <flags><Identifiable>1</Identifiable></flags>
        </maplayer>
        """
    }
    let all = schemas.map(\.layer)
    let digits = schemas.map { "<\(id($0.layer)) type=\"int\">17</\(id($0.layer))>" }
    return """
      <qgis projectname="survey" version="3.22.16">
      <projectlayers>\(layers.joined(separator: "\n"))</projectlayers>
      <properties>
      \(list("WFSLayers", all))
      <WFSLayersPrecision>\(digits.joined())</WFSLayersPrecision>
      <WFSTLayers>\(rights.map { list($0, all) }.joined())</WFSTLayers>
      </properties>
      </qgis>
      """
  }

  /// Ids of ten characters or fewer are replaced by others.
  private static func id(_ layer: LayerID) -> String { "layer_named_\(layer)" }

  private static func list(_ name: String, _ layers: [LayerID]) -> String {
    let values = layers.map { "<value>\(id($0))</value>" }
    return "<\(name) type=\"QStringList\">\(values.joined())</\(name)>"
  }
}

/// One server for all tests of a suite.
struct QGISServer: SuiteTrait, TestScoping {
  @TaskLocal static var peer: QGISServerPeer?

  @concurrent func provideScope(
    for test: Test, testCase: Test.Case?,
    performing function: @concurrent @Sendable () async throws -> Void
  ) async throws {
    guard Programs.qgisServer != nil else { return try await function() }
    let peer = try await QGISServerPeer()
    do {
      try await Self.$peer.withValue(peer) { try await function() }
    } catch {
      await peer.stop()
      throw error
    }
    await peer.stop()
  }
}

extension Trait where Self == QGISServer {
  static var qgisServer: QGISServer { QGISServer() }
}
