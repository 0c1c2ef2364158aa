import FieldpackCore
import FieldpackGeoPackage
import FieldpackMedia
import FieldpackTestSupport
import Foundation

/// A GeoPackage of tiles in a folder of its own.
final class TilesPackage {
  let folder: TemporaryFolder
  let path: String

  /// - Parameter tiles: the bytes of each tile; `nil` leaves a gap.
  init(
    _ pyramid: TilePyramid, _ tiles: @Sendable (TileAddress) throws(FieldpackError) -> [UInt8]?
  ) async throws {
    folder = try TemporaryFolder()
    path = folder.file("tiles.gpkg").path
    _ = try GeoPackageBulkWriter(creating: path, version: .v13, store: "tiles").commit()
    try await withStore { store in
      try await store.write { (writer) throws(FieldpackError) in
        try writer.createTilePyramid(pyramid)
        for matrix in pyramid.matrices {
          for row in 0..<matrix.height {
            for column in 0..<matrix.width {
              let address = TileAddress(zoom: matrix.zoom, column: column, row: row)
              guard let bytes = try tiles(address) else { continue }
              try writer.putTile(bytes, at: address, of: pyramid.name)
            }
          }
        }
      }
    }
  }

  /// A copy of a file.
  init(copying file: URL) throws {
    folder = try TemporaryFolder()
    path = folder.file("tiles.gpkg").path
    try Data(contentsOf: file).write(to: URL(fileURLWithPath: path))
  }

  func withStore<R: Sendable>(_ body: (GeoPackageStore) async throws -> R) async throws -> R {
    try await GeoPackageStore.opened(path, id: "tiles", body)
  }

  /// A tile whose pixels tell by their colours where in the level they lie, smoothly.
  static func smooth(
    _ address: TileAddress, of pyramid: TilePyramid
  ) throws(FieldpackError) -> [UInt8]? {
    guard let matrix = pyramid.matrix(zoom: address.zoom) else { return nil }
    var bitmap = Bitmap(PictureSize(width: matrix.tileWidth, height: matrix.tileHeight))
    let (wide, high) = (matrix.width * matrix.tileWidth, matrix.height * matrix.tileHeight)
    for y in 0..<matrix.tileHeight {
      for x in 0..<matrix.tileWidth {
        let pixel = 4 * (y * matrix.tileWidth + x)
        let (left, top) = (
          address.column * matrix.tileWidth + x, address.row * matrix.tileHeight + y
        )
        bitmap.bytes[pixel] = UInt8(left * 255 / wide)
        bitmap.bytes[pixel + 1] = UInt8(top * 255 / high)
        bitmap.bytes[pixel + 2] = UInt8((left + top) * 255 / (wide + high))
        bitmap.bytes[pixel + 3] = 255
      }
    }
    return try PNGEncoder.bytes(of: bitmap)
  }
}
