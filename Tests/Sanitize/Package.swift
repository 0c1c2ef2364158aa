// swift-tools-version: 6.1
import PackageDescription

// The engine from geometries to GeoPackages and formats with its tests, for the sanitizers; see
// Scripts/sanitize. The folders are links to those of the package, so that there is one copy of each
// file.

let settings: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

/// A library target of the engine with its tests beside it.
///
/// - Parameter testing: what the tests need beyond the target and its dependencies.
func engine(
  _ name: String, _ dependencies: [Target.Dependency], testing: [Target.Dependency] = []
) -> [Target] {
  [
    .target(name: name, dependencies: dependencies, swiftSettings: settings),
    .testTarget(
      name: name + "Tests",
      dependencies: [.target(name: name), "FieldpackTestSupport"] + dependencies + testing,
      swiftSettings: settings),
  ]
}

let system: [Target] = [
  .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3"),
  .systemLibrary(name: "CSpatiaLite", pkgConfig: "spatialite"),
  .systemLibrary(name: "CPROJ", pkgConfig: "proj"),
  .systemLibrary(name: "CGEOS", pkgConfig: "geos"),
  .systemLibrary(name: "CXML2", pkgConfig: "libxml-2.0"),
  .target(name: "CMappedReads", dependencies: ["CSQLite"]),
]

let stores =
  engine("FieldpackGeometry", [])
  + engine("FieldpackTopology", ["FieldpackGeometry", "CGEOS"])
  + engine("FieldpackProjection", ["FieldpackGeometry", "CPROJ"])
  + [.target(name: "FieldpackThreads", swiftSettings: settings)]
  + engine(
    "FieldpackCore", ["FieldpackGeometry", "FieldpackThreads"], testing: ["FieldpackStoreKit"])
  + engine(
    "FieldpackStoreKit",
    ["FieldpackGeometry", "FieldpackCore", "FieldpackTopology", "FieldpackProjection"])
  + engine("FieldpackSQLite", ["FieldpackThreads", "CMappedReads", "CSQLite", "CSpatiaLite"])
  + engine("FieldpackRTree", ["FieldpackGeometry", "FieldpackCore", "FieldpackSQLite"])
  + engine(
    "FieldpackGeoPackage",
    [
      "FieldpackGeometry", "FieldpackCore", "FieldpackSQLite", "FieldpackRTree",
      "FieldpackTopology", "FieldpackProjection",
    ], testing: ["FieldpackSQL", "FieldpackCheck", "FieldpackStoreKit"])
  + [
    .target(
      name: "FieldpackSQL",
      dependencies: [
        "FieldpackGeometry", "FieldpackCore", "FieldpackSQLite", "FieldpackRTree",
        "FieldpackTopology", "FieldpackProjection", "FieldpackGeoPackage",
      ], swiftSettings: settings),
    .target(
      name: "FieldpackCheck",
      dependencies: [
        "FieldpackGeometry", "FieldpackCore", "FieldpackSQLite", "FieldpackRTree",
        "FieldpackTopology", "FieldpackProjection", "FieldpackThreads", "FieldpackGeoPackage",
      ], swiftSettings: settings),
  ]

let formats =
  engine("FieldpackNMEA", ["FieldpackCore"])
  + engine(
    "FieldpackFormats",
    ["FieldpackGeometry", "FieldpackCore", "FieldpackTopology", "FieldpackNMEA", "CXML2"])

let package = Package(
  name: "fieldpack-sanitize",
  platforms: [.macOS("26.0")],
  targets: system + stores + formats + [
    .target(
      name: "FieldpackTestSupport", dependencies: ["FieldpackGeometry", "FieldpackCore"],
      path: "Tests/FieldpackTestSupport", swiftSettings: settings)
  ],
  swiftLanguageModes: [.v6]
)
