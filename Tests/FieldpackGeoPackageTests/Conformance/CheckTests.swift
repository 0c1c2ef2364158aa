import FieldpackCore
import FieldpackSQLite
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackCheck
@testable import FieldpackGeoPackage

/// Each requirement: a file that is damaged in one way, what is found, and what a repair makes of it.
@Suite(.serialized, .calculation) struct CheckTests {
  @Test(arguments: GeoPackageVersion.allCases)
  func `nothing is found in a file that is as it should be`(version: GeoPackageVersion) async throws
  {
    let package = try await CheckFixture.package(version)
    let (lines, report) = try await package.check()
    #expect(lines == [])
    #expect(report.isConformant)
    #expect(report.version == version.rawValue)
    #expect(report.groups == [])
  }

  @Test(arguments: CheckDamage.all)
  func `finds one damage and nothing else`(damage: CheckDamage) async throws {
    let package = try await CheckFixture.package(damage.version)
    try await package.damage(damage.sql)
    let (lines, report) = try await package.check()
    #expect(lines == damage.findings, "\(damage.name)")
    #expect(report.groups.reduce(0) { $0 + $1.count } == lines.count)
    #expect(report.findings.count == report.groups.reduce(0) { $0 + min($1.count, 10) })
    let isConformant = !lines.contains { $0.hasPrefix("error") }
    #expect(report.isConformant == isConformant)
  }

  @Test(arguments: CheckDamage.all.filter { $0.findings.contains { $0.hasSuffix(" +") } })
  func `mends what it says it mends, and loses no row`(damage: CheckDamage) async throws {
    let package = try await CheckFixture.package(damage.version)
    try await package.damage(damage.sql)
    let rows = try await package.userRows()
    let (lines, report) = try await package.check { $0.repairs = true }
    #expect(lines == damage.left, "\(damage.name)")
    #expect(report.repairs.map(\.text) == damage.repairs, "\(damage.name)")
    #expect(report.notes == [])
    if !damage.changesRows { #expect(try await package.userRows() == rows) }
    #expect(try await package.userRows().count == rows.count)
    let again = try await package.check { $0.repairs = true }
    #expect(again.lines == lines)
    #expect(again.report.repairs == [])
    #expect(try package.names() == ["survey.gpkg"])
    if lines.isEmpty { #expect(try package.faults() == []) }
  }

  @Test func `every requirement is damaged in some case`() {
    let damaged = Set(
      CheckDamage.all.flatMap(\.findings).map { $0.split(separator: " ")[1] }.map(String.init))
    // No database, a file of another name, tiles that cannot be read, and geometries that are not
    // valid, which are looked for on demand.
    let elsewhere: Set = ["gpkg-1", "gpkg-3", "gpkg-34", "upkeep-validity"]
    let missing = Requirement.all.map(\.id).filter {
      !damaged.contains($0) && !elsewhere.contains($0)
    }
    #expect(missing == [])
    #expect(damaged.isSubset(of: Requirement.all.map(\.id)))
  }
}

extension ConformanceRepair {
  var text: String { (table.map { "\($0): " } ?? "") + detail }
}
