// swift-tools-version: 6.1
import PackageDescription

// The parsers under libFuzzer; see README.md. The folders of the engine's targets are links to those
// of the package, so that the sanitizers' flags reach them and there is one copy of each file.

let settings: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

func engine(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
  .target(name: name, dependencies: dependencies, swiftSettings: settings)
}

/// A program of fuzz targets. Each has no more of the engine than it needs, for libFuzzer goes
/// through all counters after each input.
func program(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
  .executableTarget(
    name: name, dependencies: dependencies + ["FuzzSupport"], swiftSettings: settings)
}

let package = Package(
  name: "fieldpack-fuzz",
  platforms: [.macOS("26.0")],
  targets: [
    .systemLibrary(name: "CGEOS", pkgConfig: "geos"),
    .systemLibrary(name: "CXML2", pkgConfig: "libxml-2.0"),
    engine("FieldpackGeometry", []),
    engine("FieldpackTopology", ["FieldpackGeometry", "CGEOS"]),
    engine("FieldpackThreads", []),
    engine("FieldpackCore", ["FieldpackGeometry", "FieldpackThreads"]),
    engine("FieldpackNMEA", ["FieldpackCore"]),
    engine(
      "FieldpackFormats",
      ["FieldpackGeometry", "FieldpackCore", "FieldpackTopology", "FieldpackNMEA", "CXML2"]),
    .target(name: "FuzzSupport", swiftSettings: settings),
    .target(name: "ShortReads"),
    program("FuzzGeometry", ["FieldpackGeometry"]),
    program("FuzzCore", ["FieldpackCore"]),
    program(
      "FuzzFormats", ["FieldpackGeometry", "FieldpackCore", "FieldpackFormats", "ShortReads"]),
  ],
  swiftLanguageModes: [.v6]
)
