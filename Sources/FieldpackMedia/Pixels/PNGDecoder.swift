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
    let nothing = [UInt8](repeating: 0, count: length)
    return rows.withUnsafeMutableBytes { rows in
      guard let first = rows.baseAddress else { return pass.height == 0 || length == 0 }
      for number in 0..<pass.height {
        let row = first + start + number * (length + 1)
        guard let filter = PNGFilter(rawValue: row.load(as: UInt8.self)) else { return false }
        let bytes = UnsafeMutableRawBufferPointer(start: row + 1, count: length)
        if number == 0 {
          nothing.withUnsafeBytes { filter.undo(bytes, under: $0, step: step) }
        } else {
          filter.undo(
            bytes, under: UnsafeRawBufferPointer(start: row - length, count: length), step: step)
        }
      }
      return true
    }
  }
}
