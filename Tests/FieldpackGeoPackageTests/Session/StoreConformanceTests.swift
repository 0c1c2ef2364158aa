import FieldpackCore
import FieldpackStoreKit
import FieldpackTestSupport
import Testing

@testable import FieldpackGeoPackage

/// What every store must do, done by a GeoPackage of each version.
@Suite struct StoreConformanceTests {
  private func filled(_ version: GeoPackageVersion) async throws -> TestPackage {
    let package = try TestPackage(version)
    try await package.withStore { store in try await StoreConformance.fill(store) }
    return package
  }

  @Test(arguments: StoreConformance.reading, GeoPackageVersion.allCases)
  func `reads as a store`(behaviour: StoreConformance, version: GeoPackageVersion) async throws {
    let package = try await filled(version)
    try await behaviour.check(try await package.store())
    #expect(try package.names() == ["survey.gpkg"])
  }

  @Test(arguments: StoreConformance.writing, GeoPackageVersion.allCases)
  func `writes as a store`(behaviour: StoreConformance, version: GeoPackageVersion) async throws {
    let package = try await filled(version)
    try await behaviour.check(try await package.store())
    #expect(try package.names() == ["survey.gpkg"])
    #expect(try package.faults() == [])
    #expect(try package.rows("PRAGMA journal_mode") == ["delete"])
  }

  // A reader and a writer take turns under a rollback journal.
  @Test(
    arguments: StoreConformance.writing.filter {
      $0.description != "lets a query end on the state it began with"
    })
  func `writes without WAL as a store`(behaviour: StoreConformance) async throws {
    let package = try await filled(.v14)
    try await behaviour.check(
      try await GeoPackageStore(path: package.path, id: "survey", usesWAL: false))
    #expect(try package.faults() == [])
  }
}
