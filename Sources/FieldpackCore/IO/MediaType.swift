/// What the bytes of a file are, as their beginning says; its name is not believed.
package enum MediaType: String, Hashable, Sendable, CaseIterable {
  case jpeg = "image/jpeg"
  case png = "image/png"
  case webp = "image/webp"
  case gif = "image/gif"
  case tiff = "image/tiff"
  case bmp = "image/bmp"
  case heic = "image/heic"
  case heif = "image/heif"
  case avif = "image/avif"
  case jpeg2000 = "image/jp2"
  case canonRaw = "image/x-canon-cr3"
  case quickTime = "video/quicktime"
  case mpeg4 = "video/mp4"
  case matroska = "video/matroska"
  case avi = "video/x-msvideo"
  case sound = "audio/mp4"
  case pdf = "application/pdf"

  /// What bytes are called of which nothing is known.
  package static let unknown = "application/octet-stream"

  /// So many bytes tell the type.
  package static let length = 12

  /// The pictures that every browser shows.
  package static let shown: [MediaType] = [.jpeg, .png, .gif, .webp]

  /// - Parameter start: the first ``length`` bytes of a file, or as many as it has.
  package init?(_ start: UnsafeRawBufferPointer) {
    func begins(_ mark: [UInt8], at offset: Int = 0) -> Bool {
      start.count >= offset + mark.count
        && start[offset..<offset + mark.count].elementsEqual(mark)
    }
    func begins(_ mark: StaticString, at offset: Int = 0) -> Bool {
      start.count >= offset + mark.utf8CodeUnitCount
        && start[offset..<offset + mark.utf8CodeUnitCount].elementsEqual(
          UnsafeBufferPointer(start: mark.utf8Start, count: mark.utf8CodeUnitCount))
    }
    if begins([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) {
      self = .png
    } else if begins([0xFF, 0xD8, 0xFF]) {
      self = .jpeg
    } else if begins("RIFF") {
      guard begins("WEBP", at: 8) || begins("AVI ", at: 8) else { return nil }
      self = begins("WEBP", at: 8) ? .webp : .avi
    } else if begins("II*\0") || begins("MM\0*") {
      self = .tiff
    } else if begins("GIF87a") || begins("GIF89a") {
      self = .gif
    } else if begins("BM"), begins([0, 0, 0, 0], at: 6) {
      self = .bmp
    } else if begins("%PDF") {
      self = .pdf
    } else if begins([0x1A, 0x45, 0xDF, 0xA3]) {
      self = .matroska
    } else if start.count >= Self.length {
      self.init(boxes: start)
    } else {
      return nil
    }
  }

  package init?(_ start: [UInt8]) {
    guard let type = start.withUnsafeBytes({ Self($0) }) else { return nil }
    self = type
  }

  /// QuickTime, and what came of it, are boxes of four bytes of length and four letters; the first
  /// says in four more letters what the file is.
  private init?(boxes start: UnsafeRawBufferPointer) {
    switch String(decoding: start[4..<8], as: UTF8.self) {
    case "ftyp":
      switch String(decoding: start[8..<12], as: UTF8.self) {
      case "qt  ": self = .quickTime
      case "heic", "heix", "heim", "heis", "hevc": self = .heic
      case "mif1", "msf1": self = .heif
      case "avif", "avis": self = .avif
      case "crx ": self = .canonRaw
      case "M4A ", "M4B ": self = .sound
      default: self = .mpeg4
      }
    case "jP  ": self = .jpeg2000
    case "moov", "mdat", "wide", "pnot": self = .quickTime
    default: return nil
    }
  }

  /// What people call it.
  package var name: String {
    switch self {
    case .jpeg: "JPEG"
    case .png: "PNG"
    case .webp: "WebP"
    case .gif: "GIF"
    case .tiff: "TIFF"
    case .bmp: "BMP"
    case .heic: "HEIC"
    case .heif: "HEIF"
    case .avif: "AVIF"
    case .jpeg2000: "JPEG 2000"
    case .canonRaw: "Canon raw"
    case .quickTime: "QuickTime"
    case .mpeg4: "MPEG-4"
    case .matroska: "Matroska or WebM"
    case .avi: "AVI"
    case .sound: "sound"
    case .pdf: "PDF"
    }
  }
}
