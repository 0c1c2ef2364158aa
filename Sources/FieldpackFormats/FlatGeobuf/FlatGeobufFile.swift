import FieldpackCore

/// The parts of a FlatGeobuf file, read through one buffer.
///
/// A file is the magic bytes, the header, the index where there is one, and the features; header and
/// features each begin with their size.
struct FlatGeobufFile: ~Copyable {
  let header: FlatGeobufHeader
  /// Where the index begins.
  let indexStart: Int
  /// Where the first feature begins.
  let featureStart: Int
  private var window: ByteWindow

  /// Reads the header.
  ///
  /// - Throws: `.invalidData` for what is no FlatGeobuf file of version 3.
  init(_ input: ByteInput) throws(FieldpackError) {
    var window = ByteWindow(input)
    (header, indexStart, featureStart) = try Self.parts(&window, of: input)
    window.move(to: featureStart)
    self.window = window
  }

  private static func parts(
    _ window: inout ByteWindow, of input: ByteInput
  ) throws(FieldpackError) -> (FlatGeobufHeader, index: Int, features: Int) {
    do throws(FieldpackError) {
      let header = try header(&window, of: input.name)
      let start = window.offset
      let size = try PackedIndex.size(
        header.featureCount, header.nodeSize, in: input.size - start)
      return (header, start, start + size)
    } catch {
      throw error.adding(position: FilePosition(file: input.name))
    }
  }

  private static func header(
    _ window: inout ByteWindow, of name: String
  ) throws(FieldpackError) -> FlatGeobufHeader {
    let magic = FlatGeobufHeader.magic
    // The last byte is a minor version.
    guard let found = try window.next(magic.count), found[..<3].elementsEqual(magic[..<3]),
      found[4..<7].elementsEqual(magic[4..<7])
    else {
      throw FieldpackError(.invalidData, "the file does not begin as a FlatGeobuf file")
    }
    guard found[3] == magic[3] else {
      throw FieldpackError(
        .unsupported,
        "FlatGeobuf \(found[3]) is not read, only version 3. "
          + "Try: ogr2ogr -f GPKG out.gpkg \(name)")
    }
    guard let bytes = try sized(&window) else {
      throw FieldpackError(.invalidData, "the file ends before its header")
    }
    return try FlatGeobufHeader(FlatBytes(bytes: bytes).root())
  }

  /// The offset behind what was read.
  var offset: Int { window.offset }

  /// Moves to a feature, by its offset from the first one.
  mutating func move(toFeature offset: Int) { window.move(to: featureStart + offset) }

  /// The next feature, valid until the next call; `nil` at the end of the file.
  mutating func nextFeature() throws(FieldpackError) -> UnsafeRawBufferPointer? {
    try Self.sized(&window)
  }

  /// What lies behind a size of four bytes.
  private static func sized(
    _ window: inout ByteWindow
  ) throws(FieldpackError) -> UnsafeRawBufferPointer? {
    guard window.left > 0 else { return nil }
    guard let prefix = try window.next(4) else {
      throw FieldpackError(.invalidData, "the file ends within a size")
    }
    let size = Int(UInt32(littleEndian: prefix.loadUnaligned(as: UInt32.self)))
    guard let bytes = try window.next(size) else {
      throw FieldpackError(
        .invalidData, "the file ends before the \(size) bytes of a feature or header do")
    }
    return bytes
  }
}

/// Bytes of a file in runs of any length, read through one buffer.
private struct ByteWindow: ~Copyable {
  private let input: ByteInput
  private var buffer: UnsafeMutableRawBufferPointer
  /// The bytes of the buffer that are not taken yet.
  private var range = 0..<0
  /// The offset in the file of the next byte.
  private(set) var offset = 0

  init(_ input: ByteInput) {
    self.input = input
    buffer = .allocate(byteCount: input.room(upTo: 1 << 18), alignment: 16)
    input.rewind()
  }

  deinit { buffer.deallocate() }

  /// The bytes of the file behind those that were taken.
  var left: Int { max(0, input.size - offset) }

  mutating func move(to target: Int) {
    let ahead = target - offset
    if ahead >= 0, ahead <= range.count {
      range = range.lowerBound + ahead..<range.upperBound
    } else {
      range = 0..<0
    }
    offset = target
  }

  /// The next bytes, valid until the next call; `nil` where the file has no so many.
  mutating func next(_ count: Int) throws(FieldpackError) -> UnsafeRawBufferPointer? {
    guard count <= left else { return nil }
    if range.count < count, try !fill(count) { return nil }
    let start = range.lowerBound
    range = start + count..<range.upperBound
    offset += count
    return UnsafeRawBufferPointer(rebasing: buffer[start..<start + count])
  }

  /// Reads on until the buffer holds so many bytes; `false` where the file has become shorter.
  private mutating func fill(_ count: Int) throws(FieldpackError) -> Bool {
    let kept = UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(buffer)[range])
    if count > buffer.count {
      let larger = UnsafeMutableRawBufferPointer.allocate(
        byteCount: min(max(count, 2 * buffer.count), input.size + 1), alignment: 16)
      larger.copyMemory(from: kept)
      buffer.deallocate()
      buffer = larger
    } else if !kept.isEmpty {
      buffer.baseAddress?.copyMemory(from: kept.baseAddress!, byteCount: kept.count)
    }
    range = 0..<range.count
    input.seek(to: offset + range.count)
    while range.count < count {
      let got = try input.read(
        into: UnsafeMutableRawBufferPointer(rebasing: buffer[range.upperBound...]))
      guard got > 0 else { return false }
      range = 0..<range.upperBound + got
    }
    return true
  }
}
