import FieldpackArchive
package import FieldpackCore

/// Encodes pixels as a PNG: with a palette where there are at most 256 colours, and without alpha
/// where no pixel is transparent.
package struct PNGEncoder {
  /// - Parameter isQuick: packs in a fraction of the time, into somewhat more bytes.
  package static func bytes(
    of bitmap: Bitmap, isQuick: Bool = false
  ) throws(FieldpackError) -> [UInt8] {
    let size = bitmap.size
    let (packed, color, palette): ([UInt8], PNGFormat.Color, [UInt8])
    if let found = Palette(bitmap) {
      (color, palette) = (.palette, found.colors)
      packed = rows(found.indices, size, channels: 1, filters: [.none])
    } else if bitmap.isOpaque {
      (color, palette) = (.rgb, [])
      packed = rows(withoutAlpha(bitmap), size, channels: 3, filters: filters)
    } else {
      (color, palette) = (.rgba, [])
      packed = rows(bitmap.bytes, size, channels: 4, filters: filters)
    }
    var file: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
    func add(_ type: StaticString, _ content: [UInt8]) {
      file += big(content.count)
      let start = file.count
      file += UnsafeBufferPointer(start: type.utf8Start, count: type.utf8CodeUnitCount)
      file += content
      file += big(Int(ZlibData.checksum(file[start...])))
    }
    add("IHDR", big(size.width) + big(size.height) + [8, color.rawValue, 0, 0, 0])
    if !palette.isEmpty {
      let entries = stride(from: 0, to: palette.count, by: 4)
      add("PLTE", entries.flatMap { palette[$0..<$0 + 3] })
      let alphas = entries.map { palette[$0 + 3] }
      if alphas.contains(where: { $0 < 255 }) { add("tRNS", alphas) }
    }
    add("IDAT", try ZlibData.packed(packed, isQuick: isQuick))
    add("IEND", [])
    return file
  }

  private static let filters: [PNGFilter] = [.sub, .up, .paeth]

  private static func big(_ number: Int) -> [UInt8] {
    [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
  }

  private static func withoutAlpha(_ bitmap: Bitmap) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(bitmap.bytes.count / 4 * 3)
    for pixel in stride(from: 0, to: bitmap.bytes.count, by: 4) {
      bytes += bitmap.bytes[pixel..<pixel + 3]
    }
    return bytes
  }

  /// The rows with their filters: of each the one whose differences are smallest in all.
  private static func rows(
    _ bytes: [UInt8], _ size: PictureSize, channels: Int, filters: [PNGFilter]
  ) -> [UInt8] {
    let length = size.width * channels
    var rows: [UInt8] = []
    rows.reserveCapacity((length + 1) * size.height)
    var row = [UInt8](repeating: 0, count: length)
    // Above the first row everything is 0.
    let bytes = [UInt8](repeating: 0, count: length) + bytes
    for number in 0..<size.height {
      var best: (filter: PNGFilter, sum: Int)?
      let start = rows.count
      for filter in filters {
        let sum = bytes.withUnsafeBytes { bytes in
          let above = UnsafeRawBufferPointer(
            rebasing: bytes[number * length..<(number + 1) * length])
          let here = UnsafeRawBufferPointer(
            rebasing: bytes[(number + 1) * length..<(number + 2) * length])
          return row.withUnsafeMutableBytes {
            filter.apply(to: here, under: above, step: channels, into: $0)
          }
        }
        guard sum < best?.sum ?? .max else { continue }
        best = (filter, sum)
        rows.removeSubrange(start...)
        rows.append(filter.rawValue)
        rows += row
      }
    }
    return rows
  }
}

/// The colours of a picture that has few of them.
private struct Palette {
  var colors: [UInt8] = []
  /// The colour of each pixel.
  var indices: [UInt8] = []

  init?(_ bitmap: Bitmap) {
    var known: [UInt32: UInt8] = [:]
    var last: (key: UInt32, index: UInt8)?
    indices.reserveCapacity(bitmap.bytes.count / 4)
    for start in stride(from: 0, to: bitmap.bytes.count, by: 4) {
      let key = bitmap.bytes.withUnsafeBytes {
        $0.loadUnaligned(fromByteOffset: start, as: UInt32.self)
      }
      if last?.key != key {
        if known[key] == nil {
          guard known.count < 256 else { return nil }
          known[key] = UInt8(known.count)
          colors += bitmap.bytes[start..<start + 4]
        }
        last = (key, known[key] ?? 0)
      }
      indices.append(last?.index ?? 0)
    }
  }
}
