package import FieldpackCore

/// How a file is packed, as its first bytes tell.
package enum Packing: String, Sendable, CaseIterable {
  case gzip, zip, bzip2, xz, zstd
  case sevenZip = "7z"

  /// The bytes of a file that are needed to tell.
  static let headLength = 10

  package init?(head: some Collection<UInt8>) {
    let found = Self.allCases.first { head.starts(with: $0.mark) }
    guard let found else { return nil }
    // A text may begin with bzip2's letters; the digits of pi, or of its root, follow in a file of it.
    let behind = head.dropFirst(4)
    let blocks: [[UInt8]] = [
      [0x31, 0x41, 0x59, 0x26, 0x53, 0x59], [0x17, 0x72, 0x45, 0x38, 0x50, 0x90],
    ]
    if found == .bzip2, !blocks.contains(where: { behind.starts(with: $0) }) { return nil }
    self = found
  }

  private var mark: [UInt8] {
    switch self {
    case .gzip: [0x1F, 0x8B, 8]
    case .zip: [0x50, 0x4B, 3, 4]
    // The digit that follows is the block size.
    case .bzip2: Array("BZh".utf8)
    case .xz: [0xFD, 0x37, 0x7A, 0x58, 0x5A, 0]
    case .zstd: [0x28, 0xB5, 0x2F, 0xFD]
    case .sevenZip: [0x37, 0x7A, 0xBC, 0xAF, 0x27, 0x1C]
    }
  }
}

extension ByteInput {
  /// The contents of a gzip file as an input of the same name; another file as it is.
  ///
  /// A ZIP archive is another file: its entries are read with ``ZipReader``.
  /// - Parameter check: called for each window; throws to stop.
  /// - Throws: `.unsupported` for a compression that is not read; `.invalidData` for damage, with the
  ///   byte, and for more bytes than `limits` allow.
  package func unpacked(
    limits: UnpackingLimits = UnpackingLimits(),
    check: () throws(FieldpackError) -> Void = {}
  ) throws(FieldpackError) -> ByteInput {
    guard try isGzip() else { return self }
    let reader = try GzipReader(self, limits: limits)
    return try ByteInput(name: name) { (window) throws(FieldpackError) in
      try check()
      return try reader.read(into: window)
    }
  }

  /// The first bytes of the contents, unpacked as by ``unpacked(limits:check:)``.
  package func unpackedHead(_ count: Int) throws(FieldpackError) -> [UInt8] {
    guard try isGzip() else { return try head(count) }
    let reader = try GzipReader(self, limits: UnpackingLimits())
    var bytes: [UInt8] = []
    let window = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 16)
    defer { window.deallocate() }
    while bytes.count < count {
      let got = try reader.read(
        into: UnsafeMutableRawBufferPointer(rebasing: window[..<(count - bytes.count)]))
      if got == 0 { break }
      bytes.append(contentsOf: window[..<got])
    }
    return bytes
  }

  private func isGzip() throws(FieldpackError) -> Bool {
    guard let packing = Packing(head: try head(Packing.headLength)), packing != .zip else {
      return false
    }
    guard packing == .gzip else {
      throw FieldpackError(
        .unsupported, "\(name) is \(packing.rawValue)-compressed; unpack it first",
        position: FilePosition(file: name))
    }
    return true
  }
}
