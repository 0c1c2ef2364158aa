public import FieldpackCore

/// A file to import, or one layer of a GeoPackage.
///
///     let wells = ImportSource("survey.gpkg", layer: "wells")
///     let report = try await FileImport().run(sources: [wells], into: "field.gpkg")
public struct ImportSource: Hashable, Sendable {
  /// The path of the file; `-` is standard input.
  public var file: String
  /// The layer of a GeoPackage that comes, with the media that its rows are linked to; `nil` takes
  /// all.
  public var layer: LayerID?

  public init(_ file: String, layer: LayerID? = nil) {
    (self.file, self.layer) = (file, layer)
  }
}
