public import FieldpackCore
public import FieldpackGeometry
import FieldpackSQLite

/// A row of `gpkg_spatial_ref_sys`: a system as a file defines it, known to PROJ or not.
public struct StoredSRS: Hashable, Sendable {
  public var srs: SRS
  public var name: String
  /// WKT 1, or `undefined`.
  public var definition: String
  public var description: String?
  /// WKT 2 of the CRS WKT extension; it counts before ``definition``.
  public var wkt2: String?
  /// The coordinate epoch of the extension's version 1.1, as a year such as 2024.5.
  public var epoch: Double?

  public init(
    _ srs: SRS, name: String, definition: String = "undefined", wkt2: String? = nil,
    epoch: Double? = nil
  ) {
    self.srs = srs
    self.name = name
    self.definition = definition
    self.wkt2 = wkt2
    self.epoch = epoch
  }

  fileprivate init(_ row: Catalogue.SystemRow) {
    self.init(
      row.srs, name: row.name, definition: row.definition, wkt2: row.wkt2, epoch: row.epoch)
    description = row.description
  }

  fileprivate var row: Catalogue.SystemRow {
    var row = Catalogue.SystemRow(srs: srs, name: name, definition: definition)
    (row.description, row.wkt2, row.epoch) = (description, wkt2, epoch)
    return row
  }
}

extension GeoPackageStore {
  /// The systems that the file defines, those of no layer included.
  public func systems() async throws(FieldpackError) -> [StoredSRS] {
    try await reading { (reading) throws(FieldpackError) in
      try reading.file.catalogue().systems.entries.map { StoredSRS($0.value) }
    }
  }
}

extension FeatureWriter {
  /// Defines a reference system in the file, where it is not there yet; what PROJ knows by its code
  /// is defined as PROJ does.
  ///
  /// A system that WKT 2 alone can say, or one with an epoch, brings the CRS WKT extension with it.
  public mutating func define(_ system: StoredSRS) throws(FieldpackError) {
    let transaction = try geoPackage
    try transaction.whole { () throws(FieldpackError) in
      _ = try ReferenceSystems(file: transaction.file).ensure(system.row)
    }
  }
}

extension GeoPackageBulkWriter {
  /// Takes over a system that another file defines, where PROJ does not know it.
  package func define(_ system: StoredSRS) throws(FieldpackError) {
    _ = try ReferenceSystems(file: file).ensure(system.row)
  }
}
