import FieldpackArchive
package import FieldpackCore

/// Decodes a PNG of any colour type, depth and interlacing (ISO/IEC 15948).
///
/// Colours are taken as they are: gamma and colour profiles are not applied. 16 bits are rounded to 8.
package struct PNGDecoder {
  /// How many bytes the rows and the pixels of one picture take at most, together.
  private static let memoryLimit = 128 << 20

  private let bytes: [UInt8]
  private let name: String
  private var format = PNGFormat()
  private var packed: [UInt8] = []

  private init(_ bytes: [UInt8], name: String) {
    self.bytes = bytes
    self.name = name
  }

  /// - Parameters:
  ///   - name: what to call the picture in errors.
  ///   - limit: how many pixels are decoded at most.
  /// - Throws: `.invalidData` for what is no whole PNG, `.unsupported` for one that is too large.
  package static func bitmap(
    of bytes: [UInt8], name: String, limit: Int
  ) throws(FieldpackError) -> Bitmap {
    var decoder = PNGDecoder(bytes, name: name)
    try decoder.readChunks(limit)
    return try decoder.decode()
  }

  // MARK: Chunks

  private mutating func readChunks(_ limit: Int) throws(FieldpackError) {
    guard MediaType(bytes) == .png else { throw damage("it does not begin as a PNG does") }
    var offset = 8
    while true {
      guard bytes.count - offset >= 12 else { throw damage("it is cut short") }
      let length = bytes.big(offset, 4)
      let content = offset + 8
      guard length <= bytes.count - content - 4 else { throw damage("it is cut short") }
      let type = String(decoding: bytes[offset + 4..<content], as: UTF8.self)
      // The fifth bit of the first letter tells what a decoder may pass over.
      if bytes[offset + 4] & 0x20 == 0 || type == "tRNS" {
        let sum = ZlibData.checksum(bytes[offset + 4..<content + length])
        guard Int(sum) == bytes.big(content + length, 4) else {
          throw damage("the checksum of \(type.debugDescription) is wrong")
        }
        guard offset > 8 || type == "IHDR" else { throw damage("it does not begin with IHDR") }
        if type == "IEND" { return }
        try read(type, bytes[content..<content + length], limit)
      }
      offset = content + length + 4
    }
  }

  private mutating func read(
    _ type: String, _ content: ArraySlice<UInt8>, _ limit: Int
  ) throws(FieldpackError) {
    switch type {
    case "IHDR":
      guard format.size.width == 0, let read = PNGFormat(header: Array(content)) else {
        throw damage("its header is none that the standard has")
      }
      let (width, height) = (read.size.width, read.size.height)
      guard width <= limit, height <= limit / width else {
        throw FieldpackError(
          .unsupported,
          "\(name) says it is \(width) x \(height) pixels large; \(limit) pixels are decoded at most",
          position: FilePosition(file: name))
      }
      guard read.rowByteCount + 4 * width * height <= Self.memoryLimit else {
        throw FieldpackError(
          .unsupported,
          "\(name) says it is \(width) x \(height) pixels large, which take more than "
            + "\(Self.memoryLimit) bytes", position: FilePosition(file: name))
      }
      format = read
    case "PLTE":
      guard content.count % 3 == 0, content.count <= 768 else { throw damage("its palette") }
      format.setPalette(Array(content))
    case "tRNS": format.setTransparency(Array(content))
    case "IDAT": packed += content
    default: throw damage("it has a part \(type.debugDescription) that is not known")
    }
  }

  private func damage(_ what: String) -> FieldpackError {
    FieldpackError(
      .invalidData, "\(name) is no PNG that can be decoded: \(what)",
      position: FilePosition(file: name))
  }

  // MARK: Pixels

  private func decode() throws(FieldpackError) -> Bitmap {
    guard format.size.width > 0 else { throw damage("it has no IHDR") }
    guard format.color != .palette || !format.palette.isEmpty else {
      throw damage("it has no palette")
    }
    let passes = format.passes
    var rows: [UInt8]
    do throws(FieldpackError) {
      rows = try ZlibData.unpacked(packed, count: format.rowByteCount)
    } catch {
      throw error.code == .invalidData ? damage(error.message) : error
    }
    var bitmap = Bitmap(format.size)
    var start = 0
    for pass in passes {
      guard unfilter(&rows, from: start, pass) else { throw damage("a row has an unknown filter") }
      format.fill(&bitmap, from: rows, at: start, pass)
      start += (1 + format.rowLength(pass.width)) * pass.height
    }
    return bitmap
  }

  /// Undoes the filters of a pass in place; `false` for a filter that is not known.
  private func unfilter(_ rows: inout [UInt8], from start: Int, _ pass: PNGFormat.Pass) -> Bool {
    let length = format.rowLength(pass.width)
    let step = max(1, format.bitsPerPixel / 8)
    return rows.withUnsafeMutableBufferPointer { rows in
      for number in 0..<pass.height {
        let row = start + number * (length + 1) + 1
        guard let filter = PNGFilter(rawValue: rows[row - 1]) else { return false }
        guard filter != .none else { continue }
        for index in row..<row + length {
          let left = index - row >= step ? Int(rows[index - step]) : 0
          let up = number > 0 ? Int(rows[index - length - 1]) : 0
          let corner =
            number > 0 && index - row >= step ? Int(rows[index - length - 1 - step]) : 0
          rows[index] &+= filter.prediction(left, up, corner)
        }
      }
      return true
    }
  }
}

/// How a row of a PNG foretells its bytes.
enum PNGFilter: UInt8, CaseIterable {
  case none, sub, up, average, paeth

  /// - Parameters:
  ///   - left: the same byte of the pixel before.
  ///   - up: of the pixel above.
  ///   - corner: of the pixel before that one.
  func prediction(_ left: Int, _ up: Int, _ corner: Int) -> UInt8 {
    switch self {
    case .none: return 0
    case .sub: return UInt8(left)
    case .up: return UInt8(up)
    case .average: return UInt8((left + up) / 2)
    case .paeth:
      let guess = left + up - corner
      let (a, b, c) = (abs(guess - left), abs(guess - up), abs(guess - corner))
      return UInt8(a <= b && a <= c ? left : b <= c ? up : corner)
    }
  }
}
