public import FieldpackCore
public import FieldpackGeometry
import FieldpackSQLite

/// A row of `gpkg_spatial_ref_sys`: an SRS as the file defines it, whether PROJ knows it or not.
public struct StoredSRS: Hashable, Sendable {
  public var srs: SRS
  public var name: String
  /// WKT 1, or `undefined`.
  public var definition: String
  public var description: String?
  /// WKT 2 of the CRS WKT extension. It is used before ``definition``.
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

  /// Whether the WKT describes an engineering system (`LOCAL_CS`, `ENGCRS`), which is tied to no
  /// place on Earth.
  package var isLocal: Bool {
    let text = (wkt2 ?? definition).drop { $0.isWhitespace }.prefix { $0 != "[" && $0 != "(" }
    let keyword = text.filter { !$0.isWhitespace }.uppercased()
    return ["LOCAL_CS", "ENGCRS", "ENGINEERINGCRS"].contains(keyword)
  }

  init(_ row: Catalogue.SystemRow) {
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
  /// The systems that the file defines, including those of no layer.
  public func systems() async throws(FieldpackError) -> [StoredSRS] {
    try await read { (snapshot) throws(FieldpackError) in
      try snapshot.file.catalogue().systems.map { StoredSRS($0.row) }
    }
  }
}

extension GeoPackageWriter {
  /// Defines a reference system in the file, unless the file has it already. A system that PROJ
  /// knows by its code is defined as PROJ defines it.
  ///
  /// The CRS WKT extension is added for a system that only WKT 2 can describe, or that has an
  /// epoch.
  public func define(_ system: StoredSRS) throws(FieldpackError) {
    try whole { () throws(FieldpackError) in
      _ = try ReferenceSystems(file: file).ensure(system.row)
    }
  }
}

extension GeoPackageBulkWriter {
  /// Adds a system that another file defines, where PROJ does not know it.
  ///
  /// - Returns: the system's name here, which is another where a different system has its name.
  @discardableResult
  package func define(_ system: StoredSRS) throws(FieldpackError) -> SRS {
    try ReferenceSystems(file: file).adopt(system.row)
  }
}
