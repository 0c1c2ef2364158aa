import FieldpackCore
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackCaptures
@testable import FieldpackMedia

private struct Case: CustomTestStringConvertible, Sendable {
  var size: PictureSize
  var turn: PictureTurn
  var testDescription: String { "\(size.width)x\(size.height), EXIF \(turn.rawValue)" }

  /// How a picture is turned does not depend on its size, so one size takes all turns, and the others
  /// one that changes sides and one that does not.
  static let all =
    cases([(301, 200)], PictureTurn.allCases)
    + cases([(1, 1), (3, 2), (300, 300), (5000, 20), (20, 5000)], [.none, .right])

  static func cases(_ sizes: [(Int, Int)], _ turns: [PictureTurn]) -> [Case] {
    sizes.flatMap { size in
      turns.map { Case(size: PictureSize(width: size.0, height: size.1), turn: $0) }
    }
  }

  /// Of a picture as it is seen, the size of its thumbnail.
  var thumbnail: PictureSize {
    switch (size.width, size.height) {
    case (301, 200): PictureSize(width: 300, height: 199)
    case (5000, 20): PictureSize(width: 300, height: 1)
    case (20, 5000): PictureSize(width: 1, height: 300)
    default: size
    }
  }

  /// The colours at the corners of a picture of so many pixels: mixed where a side is one pixel.
  func corners(_ shown: PictureSize) -> [[UInt8]] {
    let all = Pixels(quartersOf: size.width, size.height)
    func mixed(_ pixels: [(Int, Int)]) -> [UInt8] {
      let colors = pixels.map { all.color($0.0, $0.1) }
      return (0..<3).map { part in
        UInt8(colors.map { Int($0[part]) }.reduce(0, +) / colors.count)
      }
    }
    let (right, bottom) = (size.width - 1, size.height - 1)
    return [(0, 0), (right, 0), (0, bottom), (right, bottom)].map { x, y in
      mixed(
        (shown.width == 1 ? [0, right] : [x]).flatMap { x in
          (shown.height == 1 ? [0, bottom] : [y]).map { (x, $0) }
        })
    }
  }
}

@Suite(.programs, .enabled(if: Programs.ffmpeg != nil, Comment(rawValue: Programs.noFFmpeg)))
struct ThumbnailTests {
  @Test(arguments: Case.all)
  fileprivate func `a picture and its thumbnail come to stand upright`(one: Case) async throws {
    let upright = Pixels(quartersOf: one.size.width, one.size.height)
    let exif = MediaSample.exif(one.turn.rawValue, isLittle: one.turn.rawValue % 2 == 0)
    let original = MediaSample.adding(
      exif, to: try await MediaSample.jpeg(upright.stored(for: one.turn.rawValue)))
    let sample = try MakingSample()
    try sample.write(original, "output.jpg")
    let info = try await sample.complete("output.jpg")
    #expect(info.orientation == (one.size.width > one.size.height ? .horizontal : .vertical))
    let endings = ["jpg", "json", "png"]
    #expect(
      Set(try sample.names)
        == Set(endings.map { "\(sample.token).\($0)" } + ["capture-info.json"]))
    let picture = try await sample.pixels("jpg")
    #expect(PictureSize(width: picture.width, height: picture.height) == one.size)
    #expect(picture.hasCorners(one.corners(one.size)))
    let thumbnail = try await sample.pixels("png")
    #expect(PictureSize(width: thumbnail.width, height: thumbnail.height) == one.thumbnail)
    #expect(thumbnail.hasCorners(one.corners(one.thumbnail)))
    let made = try sample.bytes("\(sample.token).jpg")
    if one.turn == .none {
      #expect(made == original)
    } else {
      let block = try #require(try JPEGStructure(made, name: "made").exif)
      #expect(block.turn == .none)
      #expect(block.bytes == ExifBlock(exif[...])?.upright.bytes)
    }
  }

  @Test(arguments: PictureTurn.allCases)
  func `bytes that are kept are shown upright`(turn: PictureTurn) async throws {
    let upright = Pixels(quartersOf: 301, 200)
    let original = MediaSample.adding(
      MediaSample.exif(turn.rawValue, isLittle: false),
      to: try await MediaSample.jpeg(upright.stored(for: turn.rawValue)))
    let sample = try MakingSample(keepsBytes: true)
    try sample.write(original, "output.jpg")
    #expect(try await sample.complete("output.jpg").orientation == .horizontal)
    #expect(try sample.bytes("\(sample.token).jpg") == original)
    let thumbnail = try await sample.pixels("png")
    #expect((thumbnail.width, thumbnail.height) == (300, 199))
    #expect(thumbnail.hasCorners(upright.corners))
  }

  @Test(arguments: ["yuvj420p", "yuvj422p", "yuvj444p"], [(301, 201), (302, 202)])
  func `colours keep their places however they are stored`(
    format: String, size: (width: Int, height: Int)
  ) async throws {
    let upright = Pixels(quartersOf: size.width, size.height)
    let original = MediaSample.adding(
      MediaSample.exif(6, isLittle: true),
      to: try await MediaSample.jpeg(
        upright.stored(for: PictureTurn.right.rawValue), format: format))
    let sample = try MakingSample()
    try sample.write(original, "output.jpg")
    let other = try TemporaryFolder()
    let kept = other.file("kept.jpg").path
    try Data(original).write(to: other.file("kept.jpg"))
    _ = try await sample.complete("output.jpg")
    let picture = try await sample.pixels("jpg")
    // What turning to the left undoes.
    let expected = try await MediaSample.pixels(kept).stored(for: PictureTurn.left.rawValue)
    #expect((picture.width, picture.height) == size)
    let differences = zip(picture.bytes, expected.bytes).map { abs(Int($0) - Int($1)) }
    #expect(differences.reduce(0, +) < 2 * differences.count)
    #expect(picture.hasCorners(expected.corners))
  }

  @Test(
    arguments: Case.cases([(601, 303)], PictureTurn.allCases)
      + Case.cases([(320, 180), (64, 48)], [.none, .right]))
  fileprivate func `the first frame of a film comes to stand upright`(one: Case) async throws {
    try await checkFilm(one, codec: "mjpeg")
  }

  @Test(
    .enabled(if: Programs.hasH264, Comment(rawValue: Programs.noH264)),
    arguments: Case.cases([(640, 482)], PictureTurn.allCases)
      + Case.cases([(320, 180)], [.none, .right]))
  fileprivate func `so does that of a film of H.264`(one: Case) async throws {
    try await checkFilm(one, codec: "libx264")
  }

  private func checkFilm(_ one: Case, codec: String) async throws {
    let (turn, size) = (one.turn, one.size)
    let upright = Pixels(quartersOf: size.width, size.height)
    let sample = try MakingSample()
    let path = sample.folder.file("output.mov").path
    try await MediaSample.movie(
      upright.stored(for: turn.rawValue), codec: codec, orientation: turn.rawValue, to: path)
    let original = try sample.bytes("output.mov")
    let info = try await sample.complete("output.mov")
    #expect(info.kind == .video)
    #expect(info.orientation == .horizontal)
    #expect(info.mediaFile == "\(sample.token)/\(sample.token).mov")
    #expect(try sample.bytes("\(sample.token).mov") == original)
    let thumbnail = try await sample.pixels("png")
    let expected = size.fitting(300)
    #expect(PictureSize(width: thumbnail.width, height: thumbnail.height) == expected)
    #expect(thumbnail.hasCorners(upright.corners))
  }

  @Test(.enabled(if: Programs.gdalPython != nil, Comment(rawValue: Programs.noGDALPython)))
  func `GDAL opens a thumbnail`() async throws {
    let sample = try MakingSample()
    try sample.write(try await MediaSample.jpeg(Pixels(quartersOf: 640, 480)), "output.jpg")
    _ = try await sample.complete("output.jpg")
    let path = sample.folder.file("\(sample.token).png").path
    let script =
      "from osgeo import gdal; d = gdal.Open('\(path)'); "
      + "print(d.RasterXSize, d.RasterYSize, d.RasterCount, d.ReadRaster(0, 0, 1, 1).hex())"
    let output = try Programs.output(Programs.gdalPython ?? "", ["-c", script])
    #expect(output.hasPrefix("300 225 3 d"))
  }
}
