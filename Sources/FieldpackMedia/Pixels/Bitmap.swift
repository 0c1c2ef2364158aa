/// The pixels of a picture, row by row from the top: red, green, blue and alpha, a byte each.
///
/// Colours are not multiplied by alpha; alpha 0 is clear.
package struct Bitmap: Hashable, Sendable {
  package let size: PictureSize
  package var bytes: [UInt8]

  /// A clear picture.
  package init(_ size: PictureSize) {
    self.size = size
    bytes = [UInt8](repeating: 0, count: 4 * size.width * size.height)
  }

  /// - Precondition: there are four bytes for each pixel.
  package init(_ size: PictureSize, bytes: [UInt8]) {
    precondition(bytes.count == 4 * size.width * size.height)
    self.size = size
    self.bytes = bytes
  }

  /// Whether no pixel is transparent.
  var isOpaque: Bool { stride(from: 3, to: bytes.count, by: 4).allSatisfy { bytes[$0] == 255 } }
}
