// swift-tools-version: 6.1
import PackageDescription

let settings: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

/// `Scripts/test` builds for release, but leaves the optimiser out for the tests and for targets whose work
/// mostly waits: to optimise them takes longer than it saves when the tests run. One run of the compiler
/// writes code and module of a target, where otherwise a second one would expand all macros again for the
/// module. Other packages never see the flags, because only that script sets the variable.
let testSettings: [SwiftSetting] =
  Context.environment["FIELDPACK_TESTED"] == nil
  ? settings
  : settings + [.unsafeFlags(["-Onone", "-no-emit-module-separately-wmo"])]

/// A library target of the engine with its tests beside it.
///
/// - Parameters:
///   - resources: files that become part of the library.
///   - testing: what the tests need beyond the target and its dependencies.
func engine(
  _ name: String, _ dependencies: [Target.Dependency], resources: [Resource] = [],
  testing: [Target.Dependency] = []
) -> [Target] {
  [
    .target(
      name: name, dependencies: dependencies, resources: resources, swiftSettings: settings),
    .testTarget(
      name: name + "Tests",
      dependencies: [.target(name: name), "FieldpackTestSupport"] + dependencies + testing,
      swiftSettings: testSettings),
  ]
}

let mqtt = Trait.trait(
  name: "MQTT", description: "The backend's message broker, by libmosquitto.")
let postGIS = Trait.trait(
  name: "PostGIS", description: "Stores on PostgreSQL with PostGIS, by libpq.")
let server = Trait.trait(
  name: "Server", description: "The listener of the server, by libmicrohttpd.")

/// `Scripts/test` sets the variable, so that one build, and what depends on it, has all traits.
let traits: Set<Trait> =
  Context.environment["FIELDPACK_ALL_TRAITS"] == nil
  ? [mqtt, postGIS, server]
  : [mqtt, postGIS, server, .default(enabledTraits: ["MQTT", "PostGIS", "Server"])]

let package = Package(
  name: "fieldpack",
  platforms: [.macOS("26.0")],
  products: [
    .library(name: "Fieldpack", targets: ["Fieldpack"]),
    .library(name: "FieldpackServices", targets: ["FieldpackServices"]),
    .library(name: "FieldpackStoreKit", targets: ["FieldpackStoreKit"]),
    .library(name: "FieldpackArrow", type: .dynamic, targets: ["FieldpackArrow"]),
    .library(name: "FieldpackMQTT", targets: ["FieldpackMQTT"]),
    .library(name: "FieldpackPostGIS", targets: ["FieldpackPostGIS"]),
    .library(name: "FieldpackServer", targets: ["FieldpackServer"]),
    .executable(name: "fieldpack", targets: ["FieldpackMain"]),
  ],
  traits: traits,
  targets: [
    .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
    .systemLibrary(
      name: "CSpatiaLite", pkgConfig: "spatialite", providers: [.apt(["libspatialite-dev"])]),
    .systemLibrary(name: "CPROJ", pkgConfig: "proj", providers: [.apt(["libproj-dev"])]),
    .systemLibrary(name: "CGEOS", pkgConfig: "geos", providers: [.apt(["libgeos-dev"])]),
    .systemLibrary(
      name: "CXML2", pkgConfig: "libxml-2.0", providers: [.apt(["libxml2-dev"])]),
    .systemLibrary(name: "CZLIB", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
    .systemLibrary(name: "CMinizip", pkgConfig: "minizip", providers: [.apt(["libminizip-dev"])]),
    // Its -dev flavours conflict; libproj-dev brings one of them.
    .systemLibrary(name: "CCURL", pkgConfig: "libcurl"),
    .systemLibrary(name: "CArrow"),
    .systemLibrary(name: "CMemory"),
    .systemLibrary(
      name: "CMosquitto", pkgConfig: "libmosquitto", providers: [.apt(["libmosquitto-dev"])]),
    .systemLibrary(
      name: "CMicrohttpd", pkgConfig: "libmicrohttpd", providers: [.apt(["libmicrohttpd-dev"])]),
    .systemLibrary(name: "CPQ", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
    .target(name: "CChild"),
    .target(name: "CMappedReads", dependencies: ["CSQLite"]),
  ]
    + engine("FieldpackGeometry", [])
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
          "FieldpackGeometry", "FieldpackThreads", "FieldpackCore", "FieldpackSQLite",
          "FieldpackRTree", "FieldpackTopology", "FieldpackProjection", "FieldpackGeoPackage",
        ], swiftSettings: settings),
    ]
    + engine("FieldpackNMEA", ["FieldpackCore"])
    + engine("FieldpackArchive", ["FieldpackCore", "CMinizip", "CZLIB"])
    + engine(
      "FieldpackFormats",
      ["FieldpackGeometry", "FieldpackCore", "FieldpackTopology", "FieldpackNMEA", "CXML2"])
    + engine("FieldpackMaps", ["FieldpackGeometry", "FieldpackCore"])
    + engine("FieldpackHTTP", ["FieldpackCore", "CCURL"])
    + engine(
      "FieldpackWFS",
      [
        "FieldpackGeometry", "FieldpackCore", "FieldpackStoreKit", "FieldpackProjection",
        "FieldpackGeoPackage", "FieldpackFormats", "FieldpackHTTP",
      ])
    + engine("FieldpackMedia", ["FieldpackCore", "FieldpackArchive", "CChild"])
    + engine(
      "FieldpackTiles",
      [
        "FieldpackGeometry", "FieldpackCore", "FieldpackTopology", "FieldpackProjection",
        "FieldpackSQLite", "FieldpackGeoPackage", "FieldpackMedia",
      ])
    + engine(
      "FieldpackField",
      ["FieldpackGeometry", "FieldpackCore", "FieldpackSQLite", "FieldpackGeoPackage"],
      testing: ["FieldpackFieldTestSupport"])
    + engine(
      "FieldpackLocation",
      ["FieldpackGeometry", "FieldpackCore", "FieldpackNMEA", "FieldpackField"],
      testing: ["FieldpackGeoPackage", "FieldpackFormats", "FieldpackFieldTestSupport"])
    + engine(
      "FieldpackMonitoring",
      [
        "FieldpackGeometry", "FieldpackCore", "FieldpackTopology", "FieldpackProjection",
        "FieldpackGeoPackage", "FieldpackField", "FieldpackLocation",
      ], testing: ["FieldpackFieldTestSupport"])
    + engine(
      "FieldpackTracks",
      [
        "FieldpackGeometry", "FieldpackCore", "FieldpackSQLite", "FieldpackProjection",
        "FieldpackGeoPackage", "FieldpackField", "FieldpackLocation", "FieldpackMonitoring",
      ],
      testing: [
        "FieldpackSQL", "FieldpackCheck", "FieldpackTopology", "FieldpackFormats",
        "FieldpackFieldTestSupport",
      ])
    + engine(
      "FieldpackPhotos",
      [
        "FieldpackGeometry", "FieldpackCore", "FieldpackProjection", "FieldpackGeoPackage",
        "FieldpackHTTP", "FieldpackMedia", "FieldpackField", "FieldpackLocation",
        "FieldpackMonitoring", "FieldpackTracks",
      ],
      testing: ["FieldpackSQLite", "FieldpackSQL", "FieldpackCheck", "FieldpackFieldTestSupport"])
    + engine(
      "FieldpackCaptures",
      [
        "FieldpackGeometry", "FieldpackCore", "FieldpackProjection", "FieldpackGeoPackage",
        "FieldpackFormats", "FieldpackHTTP", "FieldpackMedia", "FieldpackField",
        "FieldpackLocation",
      ], testing: ["FieldpackFieldTestSupport"])
    + engine(
      "FieldpackMotion",
      [
        "FieldpackGeometry", "FieldpackCore", "FieldpackSQLite", "FieldpackProjection",
        "FieldpackGeoPackage", "FieldpackFormats", "FieldpackHTTP", "FieldpackField",
        "FieldpackLocation",
      ],
      testing: ["FieldpackSQL", "FieldpackTracks", "FieldpackFieldTestSupport"])
    + engine(
      "FieldpackSensors",
      [
        "FieldpackGeometry", "FieldpackCore", "FieldpackSQLite", "FieldpackGeoPackage",
        "FieldpackFormats", "FieldpackHTTP", "FieldpackMedia", "FieldpackField",
      ],
      testing: ["FieldpackCheck", "FieldpackFieldTestSupport"])
    + engine(
      "FieldpackArrow",
      ["FieldpackGeometry", "FieldpackCore", "FieldpackGeoPackage", "CArrow"],
      testing: ["FieldpackSQL"])
    + engine(
      "Fieldpack",
      [
        "FieldpackArrow", "FieldpackGeometry", "FieldpackTopology", "FieldpackProjection",
        "FieldpackCore", "FieldpackArchive", "FieldpackStoreKit", "FieldpackSQLite",
        "FieldpackRTree", "FieldpackGeoPackage", "FieldpackSQL", "FieldpackCheck",
        "FieldpackFormats", "FieldpackMaps", "FieldpackHTTP", "FieldpackMedia", "FieldpackField",
        "FieldpackLocation", "FieldpackMonitoring", "FieldpackTracks", "FieldpackPhotos",
        "FieldpackCaptures", "FieldpackMotion", "FieldpackSensors", "FieldpackWFS",
        "FieldpackTiles",
      ])
    + engine(
      "FieldpackServices",
      [
        "Fieldpack", "FieldpackGeometry", "FieldpackProjection", "FieldpackCore",
        "FieldpackSQLite", "FieldpackGeoPackage", "FieldpackFormats", "FieldpackHTTP",
        "FieldpackField", "FieldpackLocation", "FieldpackWFS",
      ], testing: ["FieldpackCheck", "FieldpackFieldTestSupport", "FieldpackSyncTestSupport"])
    + engine(
      "FieldpackMQTT",
      [
        "Fieldpack", "FieldpackServices", "FieldpackCore", "FieldpackField",
        .target(name: "CMosquitto", condition: .when(traits: ["MQTT"])),
      ], testing: ["FieldpackGeometry", "FieldpackSQLite", "FieldpackGeoPackage"])
    + engine(
      "FieldpackPostGIS",
      [
        "Fieldpack", "FieldpackServices", "FieldpackGeometry", "FieldpackTopology",
        "FieldpackProjection", "FieldpackCore", "FieldpackThreads", "FieldpackStoreKit",
        "FieldpackSQLite", "FieldpackRTree", "FieldpackGeoPackage", "FieldpackField",
        "FieldpackFormats",
        .target(name: "CPQ", condition: .when(traits: ["PostGIS"])),
      ],
      testing: [
        "FieldpackFieldTestSupport", "FieldpackSyncTestSupport", "FieldpackServer", "FieldpackHTTP",
      ])
    + engine(
      "FieldpackServer",
      [
        "Fieldpack", "FieldpackServices", "FieldpackGeometry", "FieldpackProjection",
        "FieldpackCore", "FieldpackThreads", "FieldpackSQLite", "FieldpackGeoPackage",
        "FieldpackStoreKit", "FieldpackField", "FieldpackArchive", "FieldpackFormats",
        "FieldpackHTTP", "FieldpackLocation", "FieldpackMonitoring", "FieldpackTracks",
        "FieldpackMedia", "FieldpackSensors", "FieldpackTiles", "CMemory",
        .target(name: "CMicrohttpd", condition: .when(traits: ["Server"])),
      ], resources: [.embedInCode("Page")],
      testing: ["FieldpackCheck", "FieldpackFieldTestSupport"])
    + engine(
      "FieldpackCLI",
      [
        "Fieldpack", "FieldpackServices", "FieldpackMQTT", "FieldpackPostGIS", "FieldpackServer",
        "FieldpackGeometry", "FieldpackCore", "FieldpackGeoPackage", "FieldpackSQL",
        "FieldpackSQLite", "FieldpackCheck", "FieldpackFormats", "FieldpackMaps", "FieldpackHTTP",
        "FieldpackSensors", "FieldpackTopology",
      ])
    + [
      .target(
        name: "FieldpackTestSupport", dependencies: ["FieldpackGeometry", "FieldpackCore"],
        path: "Tests/FieldpackTestSupport", swiftSettings: testSettings),
      .target(
        name: "FieldpackFieldTestSupport",
        dependencies: [
          "FieldpackTestSupport", "FieldpackGeometry", "FieldpackProjection", "FieldpackCore",
          "FieldpackSQLite", "FieldpackGeoPackage", "FieldpackCheck", "FieldpackField",
          "FieldpackLocation", "FieldpackMonitoring",
        ], path: "Tests/FieldpackFieldTestSupport", swiftSettings: testSettings),
      .target(
        name: "FieldpackSyncTestSupport",
        dependencies: [
          "FieldpackTestSupport", "FieldpackGeometry", "FieldpackCore", "FieldpackServices",
        ], path: "Tests/FieldpackSyncTestSupport", swiftSettings: testSettings),
      .target(
        name: "FieldpackTestVFS", dependencies: ["CSQLite"], path: "Tests/FieldpackTestVFS"),
      // Programs that tests kill, or whose files they record.
      .executableTarget(
        name: "FieldpackTestSubject",
        dependencies: [
          "Fieldpack", "FieldpackCLI", "FieldpackServices", "FieldpackMQTT", "FieldpackGeometry",
          "FieldpackCore", "FieldpackFormats", "FieldpackGeoPackage", "FieldpackField",
          "FieldpackMedia", "FieldpackMotion", "FieldpackPostGIS", "FieldpackSQLite",
          "FieldpackSensors", "FieldpackTestSupport", "FieldpackTestVFS",
        ], path: "Tests/FieldpackTestSubject", swiftSettings: testSettings),
      .executableTarget(
        name: "FieldpackMain", dependencies: ["FieldpackCLI"], swiftSettings: settings),
    ],
  swiftLanguageModes: [.v6]
)

// Most of the work of these targets waits for people, the network or the disk. FieldpackSQL, FieldpackMedia
// and FieldpackTracks also have work for each row, pixel and fix. The targets that read, write and compute
// geometries are not among them.
let waiting = [
  "Fieldpack", "FieldpackCLI", "FieldpackCaptures", "FieldpackHTTP", "FieldpackLocation",
  "FieldpackMQTT", "FieldpackMaps", "FieldpackMedia", "FieldpackMotion", "FieldpackPhotos",
  "FieldpackSQL", "FieldpackSensors", "FieldpackServer", "FieldpackServices", "FieldpackStoreKit",
  "FieldpackTracks", "FieldpackWFS",
]
// The work of these targets is larger than it is hot: a check, a database and a watch have most of their time
// from elsewhere.
let large = [
  "FieldpackArchive", "FieldpackArrow", "FieldpackCheck", "FieldpackField", "FieldpackMonitoring",
  "FieldpackNMEA", "FieldpackPostGIS",
]
let isPackaged = Context.environment["FIELDPACK_PACKAGED"] != nil
for target in package.targets {
  if isPackaged, (waiting + large).contains(target.name) {
    // The tool stays small, and this work becomes somewhat slower: LLVM's outliner makes a function of
    // instructions that repeat. Other packages never see the flags, because only `Scripts/package` sets the
    // variable.
    target.swiftSettings =
      settings + [
        .unsafeFlags([
          "-Osize", "-Xllvm", "-enable-machine-outliner=always", "-Xllvm",
          "-enable-linkonceodr-outlining",
        ])
      ]
  } else if !isPackaged, waiting.contains(target.name) {
    // Without the variable of `Scripts/test` these are the settings that the target has.
    target.swiftSettings = testSettings
  }
}
