import FieldpackCore
import FieldpackGeoPackage
import FieldpackMedia
import FieldpackTiles

/// A tile that shows where it lies, by its border and by its zoom, x and y; clear elsewhere.
struct GridPicture {
  private(set) var bitmap = Bitmap(PictureSize(width: Self.size, height: Self.size))

  private static let size = 256
  private static let color: [UInt8] = [200, 0, 60, 255]
  /// The pixels between the border and the digits.
  private static let margin = 8

  /// Rows of three pixels, the left one is the bit of 4.
  private static let glyphs: [Character: [UInt8]] = [
    "0": [7, 5, 5, 5, 7], "1": [2, 6, 2, 2, 7], "2": [7, 1, 7, 4, 7], "3": [7, 1, 7, 1, 7],
    "4": [5, 5, 7, 1, 1], "5": [7, 4, 7, 1, 7], "6": [7, 4, 7, 5, 7], "7": [7, 1, 1, 1, 1],
    "8": [7, 5, 7, 5, 7], "9": [7, 5, 7, 1, 7], "/": [1, 1, 2, 4, 4],
  ]

  init(_ address: TileAddress) {
    for place in 0..<Self.size {
      for edge in [0, Self.size - 1] {
        fill(place, edge)
        fill(edge, place)
      }
    }
    let text = "\(address)"
    // The longest address still fits with two pixels a dot.
    let dot = text.count * 4 * 4 <= Self.size - 2 * Self.margin ? 4 : 2
    for (index, sign) in text.enumerated() {
      draw(Self.glyphs[sign] ?? [], at: Self.margin + index * 4 * dot, dot)
    }
  }

  private mutating func draw(_ glyph: [UInt8], at left: Int, _ dot: Int) {
    for (row, bits) in glyph.enumerated() {
      for column in 0..<3 where bits & (4 >> UInt8(column)) != 0 {
        for y in 0..<dot {
          for x in 0..<dot {
            fill(left + column * dot + x, Self.margin + row * dot + y)
          }
        }
      }
    }
  }

  private mutating func fill(_ x: Int, _ y: Int) {
    let start = 4 * (y * Self.size + x)
    bitmap.bytes.replaceSubrange(start..<start + 4, with: Self.color)
  }
}
