/// What the header, the palette and the transparency of a PNG say of its rows.
struct PNGFormat {
  enum Color: UInt8 {
    case gray = 0
    case rgb = 2
    case palette = 3
    case grayAlpha = 4
    case rgba = 6

    var channels: Int {
      switch self {
      case .gray, .palette: 1
      case .grayAlpha: 2
      case .rgb: 3
      case .rgba: 4
      }
    }

    var depths: [Int] {
      switch self {
      case .gray: [1, 2, 4, 8, 16]
      case .palette: [1, 2, 4, 8]
      case .rgb, .grayAlpha, .rgba: [8, 16]
      }
    }
  }

  /// The pixels that one pass of an interlaced picture has: every so many, from a first one on.
  struct Pass {
    var x = 0
    var y = 0
    var stepX = 1
    var stepY = 1
    var width: Int
    var height: Int
  }

  var size = PictureSize(width: 0, height: 0)
  var color = Color.rgba
  var depth = 8
  private var isInterlaced = false
  /// Red, green, blue and alpha of each colour.
  private(set) var palette: [UInt8] = []
  /// The one colour that is clear, as many samples as there are channels.
  private var clear: [Int]?

  init() {}

  /// - Parameter header: the content of `IHDR`; `nil` where it is not as the standard says.
  init?(header: [UInt8]) {
    guard header.count == 13, let color = Color(rawValue: header[9]),
      color.depths.contains(Int(header[8])), header[10] == 0, header[11] == 0, header[12] <= 1
    else { return nil }
    size = PictureSize(width: header.big(0, 4), height: header.big(4, 4))
    guard (1...Int(Int32.max)).contains(size.width), (1...Int(Int32.max)).contains(size.height)
    else { return nil }
    self.color = color
    depth = Int(header[8])
    isInterlaced = header[12] == 1
  }

  mutating func setPalette(_ content: [UInt8]) {
    palette = stride(from: 0, to: content.count, by: 3).flatMap { content[$0..<$0 + 3] + [255] }
  }

  mutating func setTransparency(_ content: [UInt8]) {
    switch color {
    case .palette:
      for (index, alpha) in content.enumerated() where 4 * index + 3 < palette.count {
        palette[4 * index + 3] = alpha
      }
    case .gray, .rgb:
      guard content.count == 2 * color.channels else { return }
      clear = stride(from: 0, to: content.count, by: 2).map {
        Int(content[$0]) << 8 | Int(content[$0 + 1])
      }
    case .grayAlpha, .rgba: return
    }
  }

  // MARK: Rows

  var bitsPerPixel: Int { color.channels * depth }

  /// The bytes of a row of so many pixels, without the one that names its filter.
  func rowLength(_ width: Int) -> Int { (width * bitsPerPixel + 7) / 8 }

  /// The bytes of the rows of all passes, each with the one that names its filter.
  var rowByteCount: Int { passes.reduce(0) { $0 + (1 + rowLength($1.width)) * $1.height } }

  /// The passes that have pixels, in their order.
  var passes: [Pass] {
    guard isInterlaced else { return [Pass(width: size.width, height: size.height)] }
    let starts = [
      (0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2),
      (0, 1, 1, 2),
    ]
    return starts.compactMap { x, y, stepX, stepY in
      guard size.width > x, size.height > y else { return nil }
      return Pass(
        x: x, y: y, stepX: stepX, stepY: stepY, width: (size.width - x + stepX - 1) / stepX,
        height: (size.height - y + stepY - 1) / stepY)
    }
  }

  /// Puts the pixels of a pass, whose filters are undone, into the picture.
  func fill(_ bitmap: inout Bitmap, from rows: [UInt8], at start: Int, _ pass: Pass) {
    let length = rowLength(pass.width)
    rows.withUnsafeBufferPointer { rows in
      bitmap.bytes.withUnsafeMutableBufferPointer { pixels in
        for number in 0..<pass.height {
          let row = UnsafeBufferPointer(
            rebasing: rows[(start + number * (length + 1) + 1)...].prefix(length))
          let line = (pass.y + number * pass.stepY) * size.width
          for index in 0..<pass.width {
            let place = 4 * (line + pass.x + index * pass.stepX)
            let pixel = pixel(index, of: row)
            pixels[place] = pixel.0
            pixels[place + 1] = pixel.1
            pixels[place + 2] = pixel.2
            pixels[place + 3] = pixel.3
          }
        }
      }
    }
  }

  private func pixel(
    _ index: Int, of row: UnsafeBufferPointer<UInt8>
  ) -> (UInt8, UInt8, UInt8, UInt8) {
    let first = index * color.channels
    switch color {
    case .gray:
      let gray = sample(first, of: row)
      let shown = byte(gray)
      return (shown, shown, shown, clear?[0] == gray ? 0 : 255)
    case .palette:
      let entry = 4 * sample(first, of: row)
      // Libpng shows black for a colour that the palette lacks.
      guard entry < palette.count else { return (0, 0, 0, 255) }
      return (palette[entry], palette[entry + 1], palette[entry + 2], palette[entry + 3])
    case .grayAlpha:
      let shown = byte(sample(first, of: row))
      return (shown, shown, shown, byte(sample(first + 1, of: row)))
    case .rgb:
      let (r, g, b) = (
        sample(first, of: row), sample(first + 1, of: row), sample(first + 2, of: row)
      )
      let isClear = clear.map { $0[0] == r && $0[1] == g && $0[2] == b } ?? false
      return (byte(r), byte(g), byte(b), isClear ? 0 : 255)
    case .rgba:
      return (
        byte(sample(first, of: row)), byte(sample(first + 1, of: row)),
        byte(sample(first + 2, of: row)), byte(sample(first + 3, of: row))
      )
    }
  }

  private func sample(_ index: Int, of row: UnsafeBufferPointer<UInt8>) -> Int {
    switch depth {
    case 8: return Int(row[index])
    case 16: return Int(row[2 * index]) << 8 | Int(row[2 * index + 1])
    default:
      let bit = index * depth
      return Int(row[bit / 8]) >> (8 - depth - bit % 8) & ((1 << depth) - 1)
    }
  }

  /// A sample as a byte: the same share of the most there can be, rounded.
  private func byte(_ sample: Int) -> UInt8 {
    if depth == 8 { return UInt8(sample) }
    let most = (1 << depth) - 1
    return UInt8((sample * 255 + most / 2) / most)
  }
}
