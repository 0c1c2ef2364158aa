import CMinizip
package import FieldpackCore

/// Reads the entries of a ZIP archive.
///
/// The name of an entry is text that finds the entry. It is never made a path, so that `..`, a slash
/// at its start or a NUL in it lead nowhere. Not `Sendable`.
package final class ZipReader {
  /// One entry of an archive.
  package struct Entry: Hashable, Sendable {
    /// The name in the archive, with slashes; damaged UTF-8 is mended.
    package let name: String
    /// Bytes of the contents.
    package let size: Int
    package let isEncrypted: Bool
    /// The Unix mode of the file, as the archive has it; 0 where the archive has none.
    package let mode: UInt16
    /// The entry in the archive's directory.
    fileprivate let place: Place

    package var isFolder: Bool { name.hasSuffix("/") }
    /// The name behind the last slash.
    package var lastName: Substring { name.split(separator: "/").last ?? "" }
  }

  fileprivate struct Place: Hashable, Sendable {
    var offset: UInt64
    var number: UInt64
  }

  /// What the archive holds, in the order of its directory.
  package let entries: [Entry]
  private let source: ZipSource
  private let archive: unzFile
  private let allowed: Int
  private var bytesGiven = 0

  /// Reads the directory of an archive.
  ///
  /// - Throws: `.invalidData` where there is none, where it is damaged, and where it has more entries
  ///   than `limits` allow.
  package init(
    _ input: ByteInput, limits: UnpackingLimits = UnpackingLimits()
  ) throws(FieldpackError) {
    source = ZipSource(input)
    allowed = limits.byteCount(ofPacked: input.size)
    var calls = source.calls()
    guard let opened = unzOpen2_64(nil, &calls) else {
      throw source.error("the ZIP archive is damaged: its directory cannot be read")
    }
    do throws(FieldpackError) {
      entries = try Self.entries(of: opened, source, limits.entryCount)
    } catch {
      unzClose(opened)
      throw error
    }
    archive = opened
  }

  deinit { unzClose(archive) }

  private static func entries(
    of archive: unzFile, _ source: ZipSource, _ limit: Int
  ) throws(FieldpackError) -> [Entry] {
    var found: [Entry] = []
    var code = unzGoToFirstFile(archive)
    // The length of a name has 16 bits.
    var name = [CChar](repeating: 0, count: 1 << 16)
    while code == UNZ_OK {
      var info = unz_file_info64()
      var place = unz64_file_pos()
      code = unzGetCurrentFileInfo64(archive, &info, &name, UInt(name.count), nil, 0, nil, 0)
      guard code == UNZ_OK, unzGetFilePos64(archive, &place) == UNZ_OK else { break }
      guard found.count < limit else {
        throw source.error("the ZIP archive has more than \(limit) entries, which is refused")
      }
      let bytes = name.prefix(Int(info.size_filename)).map { UInt8(bitPattern: $0) }
      found.append(
        Entry(
          name: String(decoding: bytes, as: UTF8.self), size: Int(clamping: info.uncompressed_size),
          isEncrypted: info.flag & 1 != 0,
          mode: UInt16(truncatingIfNeeded: info.external_fa >> 16),
          place: Place(offset: place.pos_in_zip_directory, number: place.num_of_file)))
      code = unzGoToNextFile(archive)
    }
    // An archive that seems to have no entries is one whose directory is cut.
    guard code == UNZ_END_OF_LIST_OF_FILE, !found.isEmpty else {
      throw source.error("the directory of the ZIP archive is damaged")
    }
    return found
  }

  /// The entry of that name, else the first whose name differs only in the case of its letters.
  package func entry(named name: String) -> Entry? {
    entries.first { $0.name == name }
      ?? entries.first { $0.name.lowercased() == name.lowercased() }
  }

  /// Unpacks an entry to a temporary file, whose name in errors is the archive's and the entry's.
  ///
  /// - Parameter check: called for each window; throws to stop.
  /// - Throws: `.unsupported` for an entry that is encrypted or packed in a way not known;
  ///   `.invalidData` for damage, and where the entries read so far unpack to more than the limits.
  package func open(
    _ entry: Entry, check: () throws(FieldpackError) -> Void = {}
  ) throws(FieldpackError) -> ByteInput {
    guard !entry.isEncrypted else {
      throw source.error("\(entry.name) is encrypted and cannot be read", .unsupported)
    }
    // No more is read of an entry than its size says.
    guard entry.size <= allowed - bytesGiven else {
      throw UnpackingLimits.refusal(source.input.name, allowed: allowed)
    }
    var place = unz64_file_pos(
      pos_in_zip_directory: entry.place.offset, num_of_file: entry.place.number)
    guard unzGoToFilePos64(archive, &place) == UNZ_OK, unzOpenCurrentFile(archive) == UNZ_OK else {
      throw source.error("\(entry.name) is damaged, or packed in another way")
    }
    var left = entry.size
    var isOpen = true
    defer { if isOpen { unzCloseCurrentFile(archive) } }
    let contents = try ByteInput(name: "\(source.input.name)/\(entry.name)") {
      (window) throws(FieldpackError) in
      try check()
      let room = UInt32(min(window.count, 1 << 30))
      let count = unzReadCurrentFile(archive, window.baseAddress, room)
      guard count >= 0 else { throw source.error("\(entry.name) is damaged") }
      left -= Int(count)
      bytesGiven += Int(count)
      return Int(count)
    }
    isOpen = false
    // Closing compares the checksum.
    guard unzCloseCurrentFile(archive) == UNZ_OK, left == 0 else {
      throw source.error("\(entry.name) is damaged")
    }
    return contents
  }
}

/// Lets minizip read an input.
private final class ZipSource {
  let input: ByteInput
  private var position = 0
  private var failure: FieldpackError?

  init(_ input: ByteInput) { self.input = input }

  /// What went wrong with the input itself, else this.
  func error(
    _ message: String, _ code: FieldpackError.Code = .invalidData
  ) -> FieldpackError {
    failure ?? FieldpackError(code, message, position: FilePosition(file: input.name))
  }

  private func read(_ buffer: UnsafeMutableRawPointer?, _ count: Int) -> Int {
    guard let buffer else { return 0 }
    var done = 0
    do throws(FieldpackError) {
      input.seek(to: position)
      while done < count {
        let got = try input.read(
          into: UnsafeMutableRawBufferPointer(start: buffer + done, count: count - done))
        if got == 0 { break }
        done += got
      }
    } catch { failure = error }
    position += done
    return done
  }

  private func seek(_ offset: UInt64, _ origin: Int32) -> Int {
    let start = [0, position, input.size]
    guard start.indices.contains(Int(origin)), let offset = Int(exactly: offset) else { return -1 }
    let (target, overflows) = start[Int(origin)].addingReportingOverflow(offset)
    guard !overflows, target <= input.size else { return -1 }
    position = target
    return 0
  }

  private static func of(_ stream: UnsafeMutableRawPointer?) -> ZipSource? {
    stream.map { Unmanaged<ZipSource>.fromOpaque($0).takeUnretainedValue() }
  }

  /// The calls that read this source, which lives as long as the archive is open.
  func calls() -> zlib_filefunc64_def {
    var calls = zlib_filefunc64_def()
    calls.opaque = Unmanaged.passUnretained(self).toOpaque()
    calls.zopen64_file = { source, _, _ in source }
    calls.zread_file = { _, stream, buffer, count in
      UInt(ZipSource.of(stream)?.read(buffer, Int(count)) ?? 0)
    }
    calls.zwrite_file = { _, _, _, _ in 0 }
    calls.ztell64_file = { _, stream in UInt64(ZipSource.of(stream)?.position ?? 0) }
    calls.zseek64_file = { _, stream, offset, origin in
      ZipSource.of(stream)?.seek(UInt64(offset), origin) ?? -1
    }
    calls.zclose_file = { _, _ in 0 }
    calls.zerror_file = { _, stream in ZipSource.of(stream)?.failure == nil ? 0 : 1 }
    return calls
  }
}
