import FieldpackArchive
package import FieldpackCore

/// Encodes pixels as a PNG: with a palette where there are at most 256 colours, and without alpha
/// where no pixel is transparent.
package struct PNGEncoder {
  package static func bytes(of bitmap: Bitmap) throws(FieldpackError) -> [UInt8] {
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
    add("IDAT", try ZlibData.packed(packed))
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
    for start in stride(from: 0, to: bytes.count, by: max(1, length)) {
      var best: (row: [UInt8], sum: Int)?
      for filter in filters {
        let row = filtered(bytes, start, length, channels, filter)
        let sum = row.reduce(0) { $0 + Int(min($1, 0 &- $1)) }
        if sum < best?.sum ?? .max { best = ([filter.rawValue] + row, sum) }
      }
      rows += best?.row ?? []
    }
    return rows
  }

  private static func filtered(
    _ bytes: [UInt8], _ start: Int, _ length: Int, _ step: Int, _ filter: PNGFilter
  ) -> [UInt8] {
    guard filter != .none else { return Array(bytes[start..<start + length]) }
    return (start..<start + length).map { index in
      let left = index - start >= step ? Int(bytes[index - step]) : 0
      let up = start > 0 ? Int(bytes[index - length]) : 0
      let corner = start > 0 && index - start >= step ? Int(bytes[index - length - step]) : 0
      return bytes[index] &- filter.prediction(left, up, corner)
    }
  }
}

/// The colours of a picture that has few of them.
private struct Palette {
  var colors: [UInt8] = []
  /// The colour of each pixel.
  var indices: [UInt8] = []

  init?(_ bitmap: Bitmap) {
    var known: [UInt32: UInt8] = [:]
    indices.reserveCapacity(bitmap.bytes.count / 4)
    for start in stride(from: 0, to: bitmap.bytes.count, by: 4) {
      let color = bitmap.bytes[start..<start + 4]
      let key = color.reduce(0) { $0 << 8 | UInt32($1) }
      if let index = known[key] {
        indices.append(index)
        continue
      }
      guard known.count < 256 else { return nil }
      let index = UInt8(known.count)
      known[key] = index
      colors += color
      indices.append(index)
    }
  }
}
