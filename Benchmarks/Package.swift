// swift-tools-version: 6.1
import PackageDescription

let package = Package(
  name: "fieldpack-benchmarks",
  platforms: [.macOS("26.0")],
  dependencies: [.package(name: "fieldpack", path: "..")],
  targets: [
    .executableTarget(
      name: "FieldpackBench",
      dependencies: [
        .product(name: "Fieldpack", package: "fieldpack"),
        .product(name: "FieldpackPostGIS", package: "fieldpack"),
      ])
  ],
  swiftLanguageModes: [.v6]
)
