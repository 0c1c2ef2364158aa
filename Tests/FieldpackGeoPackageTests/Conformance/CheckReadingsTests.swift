import FieldpackCore
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackCheck
@testable import FieldpackGeoPackage

/// Real and damaged files: what we find, held against what GDAL's validator (3.13.3) and OGC's test
/// suite for 1.2 find. Where we differ, `disagreements` says why.
///
/// The validator stops at its first error, so that only says what it says; the suite goes on.
@Suite(.enabled(if: SharedData.isPresent, Comment(rawValue: SharedData.absent)))
struct CheckReadingsTests {
  /// What each test of the suite is about.
  private static let requirements: [String: [String]] = [
    "contentsTablesExist": ["gpkg-14"], "extensionsColumnValues": ["gpkg-61"],
    "columnDataTypes": ["gpkg-5", "gpkg-25"], "tilesTableDefinitions": ["gpkg-54"],
    "extensionIndexImplementation": ["gpkg-77"], "udmtTableStructure": ["related-9"],
    "attributesTableDefinition": ["related-15"], "extensionsTableValues": ["gpkg-60"],
    "dataColumnsColumnName": ["gpkg-105", "gpkg-141"],
    "dataColumnsTableDefinition": ["gpkg-103", "gpkg-141"],
    "dataColumnsTableName": ["gpkg-104", "gpkg-141"], "contentsTableDefinition": ["gpkg-13"],
    "requiredSrsEntries": ["gpkg-11"], "featureGeometryColumnsTableDef": ["gpkg-21"],
    "featureGeometryEncodingTesting": ["gpkg-19", "gpkg-32", "gpkg-33"],
    "featureTableIntegerPrimaryKey": ["gpkg-29"],
    "featureGeometryColumnsDataValuesGeometryType": ["gpkg-25"],
    "relationsTableValues": ["related-5"], "metadataTableDefinition": ["gpkg-93"],
    "tileMatrixSetDataValuesSrsId": ["gpkg-147"], "featureTableGeometryColumnType": ["gpkg-31"],
    "udmtBaseIDs": ["related-10"], "udmtRelatedIDs": ["related-11"], "foreignKeyCheck": ["gpkg-7"],
    "timestampFormat": ["gpkg-15"], "attributeTableIntegerPrimaryKey": ["gpkg-119"],
  ]

  private static func requirements(ofTest name: String) -> [String] {
    if name.hasPrefix("dataColumnConstraints") {
      return (107...114).map { "gpkg-\($0)" } + ["gpkg-141"]
    }
    return requirements[name] ?? []
  }

  private static func readings(_ name: String) throws -> [String: [String: Any]] {
    let data = try Data(contentsOf: SharedData.url("real/expected/\(name).json"))
    let document = try JSONSerialization.jsonObject(with: data) as? [String: Any]
    return try #require(document?["files"] as? [String: [String: Any]])
  }

  private static func errors(in file: URL) throws -> Set<String> {
    let report = try GeoPackageChecker(path: file.path, store: "x").run()
    return Set(report.groups.filter { $0.level == .error }.map(\.requirement.id))
  }

  /// `file: validator|suite also|not what`.
  private static func differences() throws -> Set<String> {
    let suite = try readings("ets_gpkg12")
    var found: Set<String> = []
    for folder in ["gpkg", "gpkg-malformed"] {
      for (name, reading) in try readings(folder) {
        let errors = try errors(in: SharedData.url("real/\(folder)/\(name)"))
        let verdict = try #require(reading["validate_gpkg_3.13.3"] as? String)
        if verdict == "pass" {
          found.formUnion(errors.map { "\(name): validator also \($0)" })
        } else if let number = verdict.firstMatch(of: /Req ([0-9]+)/)?.1 {
          // The validator has triggers under 75, where the standard has them in 77.
          let wanted = number == "75" ? ["gpkg-75", "gpkg-77"] : ["gpkg-\(number)"]
          if errors.isDisjoint(with: wanted) {
            found.insert("\(name): validator not gpkg-\(number)")
          }
        } else if errors.isEmpty {
          found.insert("\(name): validator not \(verdict)")
        }
        if folder == "gpkg", let reading = suite[name] {
          found.formUnion(try differences(from: reading, errors, name))
        }
      }
    }
    return found
  }

  private static func differences(
    from reading: [String: Any], _ errors: Set<String>, _ name: String
  ) throws -> Set<String> {
    var found: Set<String> = []
    var agreed: Set<String> = []
    let failures = reading["failures"] as? [[String: String]] ?? []
    for failure in failures {
      let test = String(failure["test"]?.split(separator: ".").last ?? "")
      let common = errors.intersection(requirements(ofTest: test))
      agreed.formUnion(common)
      if common.isEmpty { found.insert("\(name): suite not \(test)") }
    }
    // Of some files the failures are not listed.
    guard reading["failed"] as? Int == failures.count else { return found }
    return found.union(errors.subtracting(agreed).map { "\(name): suite also \($0)" })
  }

  @Test func `agrees with the validator and the test suite, or says why not`() async throws {
    let found = try await onThread { try Self.differences() }
    let explained = Set(Self.disagreements.flatMap(\.cases))
    #expect(found.subtracting(explained).sorted() == [])
    #expect(explained.subtracting(found).sorted() == [])
  }
}
