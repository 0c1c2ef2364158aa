import CMinizip
package import FieldpackCore

/// Writes a ZIP archive, entry by entry.
///
/// The archive is made in a temporary file, since each entry's head is completed when its size is
/// known, and goes to the output when it is finished. All entries have the same date, so that equal
/// contents make equal archives. Not `Sendable`.
package final class ZipWriter {
  private let target: ZipTarget
  private var archive: zipFile?
  private var isInEntry = false
  private var entrySize = 0
  /// What the heads of entries hold without ZIP64, which some readers of KMZ do not know.
  private static let largestEntry = 0xFFFF_FFFE

  package init() throws(FieldpackError) {
    target = ZipTarget()
    var calls = target.calls()
    archive = zipOpen2_64(nil, APPEND_STATUS_CREATE, nil, &calls)
    guard archive != nil else { throw target.error() }
  }

  deinit { if archive != nil { zipClose(archive, nil) } }

  /// Begins an entry; the one before it is complete.
  ///
  /// - Precondition: the name is not empty, is relative, has no `..` and at most 1,024 bytes.
  package func begin(_ name: String) throws(FieldpackError) {
    precondition(
      (1...1024).contains(name.utf8.count) && !name.hasPrefix("/") && !name.utf8.contains(0)
        && !name.split(separator: "/").contains(".."))
    try endEntry()
    var info = zip_fileinfo()
    // The first day that the format knows.
    info.tmz_date.tm_year = 1980
    info.tmz_date.tm_mday = 1
    // Bit 11 says that the name is UTF-8. Deflate's window and memory are zlib's defaults.
    let code = zipOpenNewFileInZip4_64(
      archive, name, &info, nil, 0, nil, 0, nil, Z_DEFLATED, Z_DEFAULT_COMPRESSION, 0, -MAX_WBITS,
      DEF_MEM_LEVEL, Z_DEFAULT_STRATEGY, nil, 0, 0, 1 << 11, 0)
    guard code == ZIP_OK else { throw target.error() }
    isInEntry = true
    entrySize = 0
  }

  /// Appends to the entry begun last.
  package func write(_ bytes: UnsafeRawBufferPointer) throws(FieldpackError) {
    entrySize += bytes.count
    guard entrySize <= Self.largestEntry else {
      throw FieldpackError(.unsupported, "an entry of a ZIP archive cannot have more than 4 GB")
    }
    var rest = bytes[...]
    while !rest.isEmpty {
      let part = UnsafeRawBufferPointer(rebasing: rest.prefix(1 << 30))
      guard zipWriteInFileInZip(archive, part.baseAddress, UInt32(part.count)) == ZIP_OK else {
        throw target.error()
      }
      rest = rest.dropFirst(part.count)
    }
  }

  /// An output whose bytes become an entry, which begins with the first of them.
  ///
  /// An output has to be finished before the next one gets its first byte to flush.
  /// - Precondition: the name is one that ``begin(_:)`` takes.
  package func output(_ name: String) -> ByteOutput {
    var hasBegun = false
    return ByteOutput { [self] (bytes) throws(FieldpackError) in
      guard !bytes.isEmpty else { return }
      if !hasBegun { try begin(name) }
      hasBegun = true
      try write(bytes)
    }
  }

  private func endEntry() throws(FieldpackError) {
    guard isInEntry else { return }
    isInEntry = false
    guard zipCloseFileInZip(archive) == ZIP_OK else { throw target.error() }
  }

  /// Completes the archive and appends it to `output`, which the caller finishes.
  package func finish(into output: ByteOutput) throws(FieldpackError) {
    try endEntry()
    let closed = zipClose(archive, nil)
    archive = nil
    guard closed == ZIP_OK else { throw target.error() }
    try target.copy(to: output)
  }
}

/// Lets minizip write a temporary file.
private final class ZipTarget {
  private let file = SpillFile()
  private var position = 0
  private var failure: FieldpackError?

  func error() -> FieldpackError {
    failure ?? FieldpackError(.io, "the ZIP archive cannot be made")
  }

  func copy(to output: ByteOutput) throws(FieldpackError) {
    let window = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 17, alignment: 16)
    defer { window.deallocate() }
    var offset = 0
    while offset < file.end {
      let part = UnsafeMutableRawBufferPointer(
        rebasing: window[..<min(window.count, file.end - offset)])
      try file.read(into: part, at: offset)
      try output.write(UnsafeRawBufferPointer(part))
      offset += part.count
    }
  }

  private func write(_ bytes: UnsafeRawBufferPointer) -> Int {
    do throws(FieldpackError) {
      let inside = max(0, min(bytes.count, file.end - position))
      try file.write(UnsafeRawBufferPointer(rebasing: bytes[..<inside]), at: position)
      if inside < bytes.count {
        try file.append(UnsafeRawBufferPointer(rebasing: bytes[inside...]))
      }
      position += bytes.count
      return bytes.count
    } catch {
      failure = error
      return 0
    }
  }

  private func seek(_ offset: UInt64, _ origin: Int32) -> Int {
    let start = [0, position, file.end]
    guard start.indices.contains(Int(origin)), let offset = Int(exactly: offset),
      offset <= file.end - start[Int(origin)]
    else { return -1 }
    position = start[Int(origin)] + offset
    return 0
  }

  private static func of(_ stream: UnsafeMutableRawPointer?) -> ZipTarget? {
    stream.map { Unmanaged<ZipTarget>.fromOpaque($0).takeUnretainedValue() }
  }

  /// The calls that write this file, which lives as long as the archive is open.
  func calls() -> zlib_filefunc64_def {
    var calls = zlib_filefunc64_def()
    calls.opaque = Unmanaged.passUnretained(self).toOpaque()
    calls.zopen64_file = { target, _, _ in target }
    calls.zread_file = { _, _, _, _ in 0 }
    calls.zwrite_file = { _, stream, bytes, count in
      UInt(
        ZipTarget.of(stream)?.write(UnsafeRawBufferPointer(start: bytes, count: Int(count))) ?? 0)
    }
    calls.ztell64_file = { _, stream in UInt64(ZipTarget.of(stream)?.position ?? 0) }
    calls.zseek64_file = { _, stream, offset, origin in
      ZipTarget.of(stream)?.seek(UInt64(offset), origin) ?? -1
    }
    calls.zclose_file = { _, _ in 0 }
    calls.zerror_file = { _, stream in ZipTarget.of(stream)?.failure == nil ? 0 : 1 }
    return calls
  }
}
