import FieldpackCore
import FieldpackFormats
import FieldpackGeometry
import FieldpackProjection

extension Format {
  /// ESRI's shapefile: the `.shp` with the files beside it.
  public static let shapefile = Format(ShapefileFormat())
}

private struct ShapefileFormat: ImportedFormat {
  let name = "shp"
  let title = "Shapefile"
  let extensions = ["shp", "dbf"]
  let holdsLayers = false

  /// The code 9994 in the first four bytes.
  func recognition(of head: FileHead) -> Recognition {
    head.bytes.starts(with: [0, 0, 0x27, 0x0A]) ? .certain : .none
  }

  func storeLayer(ofFileAt path: String) -> LayerID { Importer.stem(path) }

  func companions(ofFileAt path: String) -> [String] {
    ShapefileSet.files(beside: path).map(\.1).filter { $0 != path }
  }

  func reader(_ input: ByteInput, options: ReadOptions) -> ShapefileReader {
    ShapefileReader(input, options: options, identify: Self.identify)
  }

  /// What PROJ makes of the definition in a `.prj`, which may say anything.
  @Sendable private static func identify(_ wkt: String) -> (srs: SRS?, name: String?) {
    guard let reference = try? SRSReference(wkt: wkt) else { return (nil, nil) }
    let srs = try? SRSCatalogue().identify(reference)
    return (srs, reference.description)
  }
}
