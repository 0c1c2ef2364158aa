import FieldpackCore

/// What the media of a new capture are, as their bytes say; their name is not believed.
struct CaptureMedia: Hashable, Sendable {
  var kind: CaptureInfo.MediaKind
  /// Before it is turned.
  var size = PictureSize(width: 0, height: 0)
  var turn = PictureTurn.none
  /// The length of a video in seconds, where its header states one.
  var duration: Double?

  var orientation: CaptureInfo.Orientation {
    let upright = turn.swapsSides ? size.swapped : size
    return upright.width > upright.height ? .horizontal : .vertical
  }

  /// - Parameters:
  ///   - start: the first bytes of the file, 32 where it has so many.
  ///   - name: what to call it in errors.
  /// - Throws: `.unsupported` for what is neither JPEG nor QuickTime nor MPEG-4, by its name;
  ///   `.invalidData` where there is nothing.
  init(start: [UInt8], name: String) throws(FieldpackError) {
    guard !start.isEmpty else {
      throw FieldpackError(.invalidData, "\(name) is empty", position: FilePosition(file: name))
    }
    let type = MediaType(start)
    let other = Self.other(start)
    if type.contentType == "image/jpeg" {
      kind = .image
    } else if type.isVideo, other == nil {
      kind = .video
    } else {
      let what = other ?? (type.contentType == MediaType.unknown ? nil : type.contentType)
      throw FieldpackError(
        .unsupported,
        "\(name) is \(what ?? "neither a picture nor a video that is known"); a capture holds JPEG, "
          + "QuickTime or MPEG-4. Try: convert it first", position: FilePosition(file: name))
    }
  }

  /// The name of another format.
  private static func other(_ bytes: [UInt8]) -> String? {
    func has(_ text: String, at offset: Int) -> Bool {
      bytes.count >= offset + text.utf8.count
        && bytes[offset..<offset + text.utf8.count].elementsEqual(text.utf8)
    }
    if has("ftyp", at: 4) {
      return brands.first { has($0.brand, at: 8) }?.name
    }
    return signatures.first { has($0.text, at: $0.offset) }?.name
      ?? (bytes.starts(with: [0x89, 0x50, 0x4E, 0x47]) ? "PNG" : nil)
      ?? (bytes.starts(with: [0x1A, 0x45, 0xDF, 0xA3]) ? "Matroska or WebM" : nil)
  }

  /// Pictures and sound in the boxes of MPEG-4.
  private static let brands: [(brand: String, name: String)] = [
    ("heic", "HEIC"), ("heix", "HEIC"), ("heim", "HEIC"), ("heis", "HEIC"), ("hevc", "HEIC"),
    ("mif1", "HEIF"), ("msf1", "HEIF"), ("avif", "AVIF"), ("avis", "AVIF"), ("crx ", "Canon raw"),
    ("M4A ", "sound"), ("M4B ", "sound"), ("jp2 ", "JPEG 2000"),
  ]

  private static let signatures: [(text: String, offset: Int, name: String)] = [
    ("GIF8", 0, "GIF"), ("WEBP", 8, "WebP"), ("AVI ", 8, "AVI"), ("II*\0", 0, "TIFF"),
    ("MM\0*", 0, "TIFF"), ("BM", 0, "BMP"), ("%PDF", 0, "PDF"),
  ]
}
