import FieldpackCore
import FieldpackFormats

/// What one file format is: how its files are known, read and written.
///
/// A format is one file with a conformance to ``ImportedFormat``, to ``ExportedFormat`` or to both, and
/// one line in ``Format/all``.
protocol FileFormat: Sendable {
  var name: String { get }
  /// What people call it.
  var title: String { get }
  /// The extensions it is known by in lower case, the usual one first.
  var extensions: [String] { get }
  /// Whether one file holds several layers.
  var holdsLayers: Bool { get }
  /// How surely a file is of this format, as its first bytes tell.
  func recognition(of head: FileHead) -> Recognition
  /// Whether a file can be the source of features.
  var isRead: Bool { get }
  /// The format as one that is imported; `nil` where it is not.
  var imported: (any ImportedFormat)? { get }
  /// The format as one that is written; `nil` where it is not.
  var exported: (any ExportedFormat)? { get }
}

extension FileFormat {
  func recognition(of head: FileHead) -> Recognition { .none }
  var isRead: Bool { imported != nil }
  var imported: (any ImportedFormat)? { nil }
  var exported: (any ExportedFormat)? { nil }
}

/// A format whose files are imported into GeoPackages.
protocol ImportedFormat: FileFormat {
  associatedtype Reader: FileReader
  func reader(_ input: ByteInput, options: ReadOptions) -> Reader
  /// Whether a file holds several layers.
  func holdsLayers(in input: ByteInput) throws(FieldpackError) -> Bool
  /// The files beside one that belong to it.
  func companions(ofFileAt path: String) -> [String]
  /// The index that tells which features of a file lie where; `nil` where there is none.
  func index(of input: ByteInput) throws(FieldpackError) -> FlatGeobufIndex?
}

extension ImportedFormat {
  var imported: (any ImportedFormat)? { self }

  func holdsLayers(in input: ByteInput) throws(FieldpackError) -> Bool { holdsLayers }

  func companions(ofFileAt path: String) -> [String] { [] }

  func index(of input: ByteInput) throws(FieldpackError) -> FlatGeobufIndex? { nil }
}

/// A format that features are written to.
protocol ExportedFormat: FileFormat {
  /// Whether features can carry their key tuples.
  var holdsKeys: Bool { get }
  func export(_ run: ExportRun, to place: ExportPlace) async throws(FieldpackError) -> ExportReport
}

extension ExportedFormat {
  var holdsKeys: Bool { false }
  var exported: (any ExportedFormat)? { self }
}

/// Where an export goes.
enum ExportPlace {
  /// A file that appears when it is complete.
  case path(String)
  /// An output that the caller finishes.
  case output(ByteOutput)

  /// Where the bytes go.
  func output(_ options: ExportOptions) throws(FieldpackError) -> ByteOutput {
    switch self {
    case .path(let path): try ByteOutput(replacing: path, overwrite: options.overwrite)
    case .output(let output): output
    }
  }
}

/// How surely a format knows a file, the least sure first.
enum Recognition: Comparable {
  case none
  /// Where nothing else is known, the extension included.
  case possible
  /// The file's extension is one of the format's.
  case named
  case likely
  /// More surely than formats that begin alike.
  case certain
}

/// The beginning of a file that a format is to be told from.
struct FileHead {
  let bytes: [UInt8]
  /// In lower case, without the dot; that before `.gz` where there is one.
  let fileExtension: String
  /// The bytes behind a byte order mark and white space.
  let text: ArraySlice<UInt8>

  init(path: String, bytes: [UInt8]) {
    self.bytes = bytes
    fileExtension = Format.fileExtension(Format.unpackedName(path))
    text = bytes.drop { $0 == 0xEF || $0 == 0xBB || $0 == 0xBF || $0 <= 32 && $0 != 0x1E }
  }

  /// Whether the text begins with this ASCII character.
  func begins(with character: Unicode.Scalar) -> Bool {
    text.first == UInt8(ascii: character)
  }

  /// Whether the file holds messages of OwnTracks, a line each, which begin as GeoJSON does.
  var isOwnTracks: Bool {
    begins(with: "{") && contains("\"_type\"") && !contains("\"type\"")
  }

  /// Whether the file is a database of SQLite that says it is MBTiles, in its application id.
  var isMBTiles: Bool {
    bytes.starts(with: Array("SQLite format 3\0".utf8))
      && bytes.dropFirst(68).starts(with: Array("MPBX".utf8))
  }

  func contains(_ mark: String) -> Bool { String(decoding: text, as: UTF8.self).contains(mark) }

  /// Whether a byte is a capital letter or a digit of ASCII.
  static func isCode(_ byte: UInt8) -> Bool {
    UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
  }
}
