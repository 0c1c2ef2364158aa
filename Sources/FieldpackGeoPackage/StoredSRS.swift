package import FieldpackCore
package import FieldpackGeometry

/// A row of `gpkg_spatial_ref_sys`: a system as a file defines it, known to PROJ or not.
package struct StoredSRS: Hashable, Sendable {
  package let srs: SRS
  package let name: String
  /// WKT.
  package let definition: String
}

extension GeoPackageStore {
  /// The systems that the file defines, those of no layer included.
  package func systems() async throws(FieldpackError) -> [StoredSRS] {
    try await reading { (reading) throws(FieldpackError) in
      try reading.file.catalogue().systems.values.map {
        StoredSRS(srs: $0.srs, name: $0.name, definition: $0.definition)
      }
    }
  }
}

extension GeoPackageBulkWriter {
  /// Takes over a system that another file defines, where PROJ does not know it.
  package func define(_ system: StoredSRS) throws(FieldpackError) {
    let row = Catalogue.SystemRow(
      srs: system.srs, name: system.name, definition: system.definition)
    _ = try LayerCreation(file: file).ensureSystem(row)
  }
}
