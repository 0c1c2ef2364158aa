import Foundation

/// A picture whose four quarters have colours of their own, as pixels of red, green and blue.
public struct Pixels: Equatable, Sendable {
  public var width: Int
  public var height: Int
  public var bytes: [UInt8]

  public static let topLeft: [UInt8] = [220, 30, 30]
  public static let topRight: [UInt8] = [30, 200, 30]
  public static let bottomLeft: [UInt8] = [30, 30, 220]
  public static let bottomRight: [UInt8] = [240, 240, 240]

  public init(width: Int, height: Int, bytes: [UInt8]) {
    self.width = width
    self.height = height
    self.bytes = bytes
  }

  public init(quartersOf width: Int, _ height: Int) {
    self.init(width: width, height: height, bytes: [])
    bytes.reserveCapacity(width * height * 3)
    for y in 0..<height {
      for x in 0..<width {
        let (isLeft, isTop) = (x * 2 < width, y * 2 < height)
        bytes +=
          isTop
          ? (isLeft ? Self.topLeft : Self.topRight)
          : (isLeft ? Self.bottomLeft : Self.bottomRight)
      }
    }
  }

  public func color(_ x: Int, _ y: Int) -> [UInt8] {
    let offset = (y * width + x) * 3
    return Array(bytes[offset..<offset + 3])
  }

  /// Top left, top right, bottom left, bottom right.
  public var corners: [[UInt8]] {
    [(0, 0), (width - 1, 0), (0, height - 1), (width - 1, height - 1)].map { color($0.0, $0.1) }
  }

  /// What is stored so that a turn by EXIF's words gives this picture: where row 0 and column 0 of
  /// what is stored are to be seen.
  ///
  /// - Parameter orientation: EXIF's, 1 to 8.
  public func stored(for orientation: Int) -> Pixels {
    let (w, h) = orientation >= 5 ? (height, width) : (width, height)
    var stored = Pixels(width: w, height: h, bytes: [])
    stored.bytes.reserveCapacity(bytes.count)
    for y in 0..<h {
      for x in 0..<w {
        let (seenX, seenY) =
          switch orientation {
          case 1: (x, y)  // row 0 at the top, column 0 at the left
          case 2: (w - 1 - x, y)  // top, right
          case 3: (w - 1 - x, h - 1 - y)  // bottom, right
          case 4: (x, h - 1 - y)  // bottom, left
          case 5: (y, x)  // left, top
          case 6: (h - 1 - y, x)  // right, top
          case 7: (h - 1 - y, w - 1 - x)  // right, bottom
          default: (y, w - 1 - x)  // left, bottom
          }
        let offset = (seenY * width + seenX) * 3
        stored.bytes += bytes[offset..<offset + 3]
      }
    }
    return stored
  }

  /// Whether every corner has nearly the colour that it should have.
  public func hasCorners(_ expected: [[UInt8]]) -> Bool {
    zip(corners, expected).allSatisfy { found, wanted in
      zip(found, wanted).allSatisfy { abs(Int($0) - Int($1)) <= 40 }
    }
  }
}

/// Media that ffmpeg makes of pixels, and pixels of media.
public enum MediaSample {
  private static var program: String { Programs.ffmpeg ?? "ffmpeg" }

  public static func jpeg(_ pixels: Pixels, format: String = "yuvj444p") async throws -> [UInt8] {
    let result = try await Program.run(
      program,
      input(pixels) + [
        "-frames:v", "1", "-pix_fmt", format, "-c:v", "mjpeg", "-q:v", "1", "-qmin", "1", "-f",
        "image2pipe", "pipe:1",
      ], input: Data(pixels.bytes))
    guard result.status == 0 else { throw RunFailure(description: result.error) }
    return Array(result.outputBytes)
  }

  /// A film whose first frame has the pixels; those after it are grey.
  public static func movie(
    _ pixels: Pixels, codec: String, orientation: Int = 1, to path: String
  ) async throws {
    let grey = [UInt8](repeating: 128, count: pixels.bytes.count)
    let format = codec == "mjpeg" ? "yuvj444p" : "yuv420p"
    let result = try await Program.run(
      program,
      input(pixels) + [
        "-c:v", codec, "-pix_fmt", format, "-g", "1", "-b:v", "20M", "-f", "mov", "file:" + path,
      ],
      input: Data(pixels.bytes + grey + grey))
    guard result.status == 0 else { throw RunFailure(description: result.error) }
    var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    setMatrix(of: &bytes, orientation, width: pixels.width, height: pixels.height)
    try Data(bytes).write(to: URL(fileURLWithPath: path))
  }

  private static func input(_ pixels: Pixels) -> [String] {
    [
      "-v", "error", "-y", "-f", "rawvideo", "-pix_fmt", "rgb24", "-s",
      "\(pixels.width)x\(pixels.height)", "-r", "10", "-i", "pipe:0",
    ]
  }

  /// The matrix of the first track, as the makers of phones write it.
  private static func setMatrix(
    of bytes: inout [UInt8], _ orientation: Int, width: Int, height: Int
  ) {
    let matrix: [Int32] =
      switch orientation {
      case 1: [1, 0, 0, 1, 0, 0]
      case 2: [-1, 0, 0, 1, Int32(width), 0]
      case 3: [-1, 0, 0, -1, Int32(width), Int32(height)]
      case 4: [1, 0, 0, -1, 0, Int32(height)]
      case 5: [0, 1, 1, 0, 0, 0]
      case 6: [0, 1, -1, 0, Int32(height), 0]
      case 7: [0, -1, -1, 0, Int32(height), Int32(width)]
      default: [0, -1, 1, 0, 0, Int32(width)]
      }
    guard let start = offset(of: "tkhd", in: bytes) else { return }
    for (index, entry) in zip([0, 1, 3, 4, 6, 7], matrix) {
      set(&bytes, start + 4 + 40 + 4 * index, UInt32(bitPattern: entry << 16))
    }
  }

  /// Where four letters stand first.
  public static func offset(of type: String, in bytes: [UInt8]) -> Int? {
    let letters = Array(type.utf8)
    return bytes.indices.dropLast(3).first { bytes[$0..<$0 + 4].elementsEqual(letters) }
  }

  public static func set(_ bytes: inout [UInt8], _ offset: Int, _ value: UInt32) {
    for index in 0..<4 {
      bytes[offset + index] = UInt8(truncatingIfNeeded: value >> UInt32(24 - 8 * index))
    }
  }

  /// The pixels of a picture file, as they are stored.
  public static func pixels(_ path: String) async throws -> Pixels {
    let result = try await Program.run(
      program,
      [
        "-v", "error", "-noautorotate", "-i", "file:" + path, "-f", "image2pipe", "-c:v", "ppm",
        "-pix_fmt", "rgb24", "pipe:1",
      ])
    // "P6", width and height, 255: a line each, then the pixels.
    let lines = result.outputBytes.split(
      separator: UInt8(ascii: "\n"), maxSplits: 3, omittingEmptySubsequences: false)
    let sides =
      lines.count == 4 ? String(decoding: lines[1], as: UTF8.self).split(separator: " ") : []
    guard sides.count == 2, let width = Int(sides[0]), let height = Int(sides[1]),
      lines[3].count == width * height * 3
    else { throw RunFailure(description: "no pixels of \(path): \(result.error)") }
    return Pixels(width: width, height: height, bytes: Array(lines[3]))
  }

  /// A JPEG with an EXIF segment after its first two bytes.
  public static func adding(_ exif: [UInt8], to jpeg: [UInt8]) -> [UInt8] {
    let length = exif.count + 2
    let head: [UInt8] = [0xFF, 0xD8, 0xFF, 0xE1, UInt8(length >> 8), UInt8(length & 255)]
    return head + exif + jpeg[2...]
  }

  /// An EXIF segment with a maker, an orientation and a second directory of a small picture.
  public static func exif(_ orientation: Int, isLittle: Bool) -> [UInt8] {
    func number(_ value: Int, _ count: Int) -> [UInt8] {
      let big = (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * (count - 1 - $0))) }
      return isLittle ? big.reversed() : big
    }
    func short(_ value: Int) -> [UInt8] { number(value, 2) + [0, 0] }
    func entry(_ tag: Int, _ type: Int, _ count: Int, _ value: [UInt8]) -> [UInt8] {
      number(tag, 2) + number(type, 2) + number(count, 4) + value
    }
    var bytes = Array("Exif\0\0".utf8) + Array((isLittle ? "II" : "MM").utf8)
    bytes += number(42, 2) + number(8, 4) + number(2, 2)
    bytes += entry(0x010F, 2, 4, Array("Fpk\0".utf8))
    bytes += entry(0x0112, 3, 1, short(orientation))
    bytes += number(38, 4)
    // Of the small picture, which says how it lies, too.
    bytes += number(1, 2) + entry(0x0112, 3, 1, short(orientation)) + number(0, 4)
    return bytes
  }
}
