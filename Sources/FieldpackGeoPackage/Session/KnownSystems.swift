import FieldpackCore
package import FieldpackGeometry
package import FieldpackProjection

/// The reference systems that SQL functions have asked for, by the file's `srs_id`.
struct KnownSystems {
  var version: UInt32?
  fileprivate var references: [Int64: SRSReference] = [:]
  fileprivate var numbers: [SRS: Int32] = [:]
  fileprivate var rows: Catalogue.Systems?
}

extension GeoPackageSession {
  /// The file's definition of an `srs_id`. A number that the file does not define is EPSG's code.
  package func reference(srsID: Int32) throws -> SRSReference {
    if srsID == -1 { return SRSReference(.undefinedCartesian) }
    if srsID == 0 { return SRSReference(.undefinedGeographic) }
    let id = Int64(srsID)
    return try knownSystems { known in
      if let found = known.references[id] { return found }
      let row = try rows(of: &known).first { $0.id == id }?.row
      let made =
        try row.map { row in try reference(of: row.srs, in: row) }
        ?? SRSReference(SRS("EPSG", srsID))
      known.references[id] = made
      return made
    }
  }

  /// The file's `srs_id` of a system; the code itself where the file does not define the system.
  package func srsID(of srs: SRS) throws -> Int32 {
    try knownSystems { known in
      if let found = known.numbers[srs] { return found }
      let found = try rows(of: &known).filter { $0.row.srs == srs }.map(\.id).min()
      let number = found.flatMap { Int32(exactly: $0) } ?? srs.code
      known.numbers[srs] = number
      return number
    }
  }

  /// The systems of the file; none where the file is no GeoPackage and has no such table.
  private func rows(
    of known: inout KnownSystems
  ) throws(FieldpackError) -> Catalogue.Systems {
    if let rows = known.rows { return rows }
    let systems = ReferenceSystems(file: self)
    let rows = try systems.exist ? systems.all() : []
    known.rows = rows
    return rows
  }
}
