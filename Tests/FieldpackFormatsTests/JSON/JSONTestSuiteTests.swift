import FieldpackCore
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackFormats

/// The parsing cases of JSONTestSuite: `y_` must be read, `n_` refused, `i_` is ours to decide.
@Suite(.enabled(if: SharedData.isPresent, Comment(rawValue: SharedData.absent)))
struct JSONTestSuiteTests {
  /// The cases that RFC 8259 leaves open, and whether we read them.
  ///
  /// Numbers of any size are read (section 6), lone surrogates become U+FFFD (8.2), a byte order
  /// mark is skipped (8.1, "MAY ignore"); text that is not UTF-8 is refused (8.1, "MUST").
  static let decided: [String: Bool] = [
    "i_number_double_huge_neg_exp": true,
    "i_number_neg_int_huge_exp": true,
    "i_number_real_neg_overflow": true,
    "i_number_real_underflow": true,
    "i_number_too_big_pos_int": true,
    "i_object_key_lone_2nd_surrogate": true,
    "i_string_1st_valid_surrogate_2nd_invalid": true,
    "i_string_UTF-8_invalid_sequence": false,
    "i_string_incomplete_surrogate_and_escape_valid": true,
    "i_string_incomplete_surrogates_escape_valid": true,
    "i_string_invalid_surrogate": true,
    "i_string_inverted_surrogates_U+1D11E": true,
    "i_string_lone_second_surrogate": true,
    "i_string_not_in_unicode_range": false,
    "i_string_overlong_sequence_6_bytes": false,
    "i_string_truncated-utf-8": false,
    "i_string_utf16LE_no_BOM": false,
    "i_structure_UTF-8_BOM_empty_object": true,
  ]

  static func isExpected(_ name: String) throws -> Bool {
    switch name.prefix(2) {
    case "y_": true
    case "n_": false
    default: try #require(decided[name] as Bool?, "\(name) is not decided")
    }
  }

  @Test func `each case is read or refused as decided`() throws {
    let files = SharedData.files(in: "real/json-parsing", extensions: ["json"])
    #expect(files.count == 160)
    for file in files {
      let name = file.deletingPathExtension().lastPathComponent
      var scanner = JSONScanner(try ByteInput(path: file.path))
      let isRead: Bool
      do throws(FieldpackError) {
        try scanner.validateDocument()
        isRead = true
      } catch {
        #expect(error.code == .invalidData)
        isRead = false
      }
      #expect(try isRead == Self.isExpected(name), "\(name)")
    }
  }
}

extension JSONTestSuiteTests {
  /// As `properties.v` of a Feature: what is no JSON text of its own is refused there, too, and so
  /// is a byte order mark in the middle of a text.
  @Test func `each case is read or refused as a property`() throws {
    let folder = try TemporaryFolder()
    let before = Array(#"{"type":"Feature","geometry":null,"properties":{"v":"#.utf8)
    for file in SharedData.files(in: "real/json-parsing", extensions: ["json"]) {
      let name = file.deletingPathExtension().lastPathComponent
      let copy = folder.file("case.geojson")
      try Data(before + Array(try Data(contentsOf: file)) + Array("}}".utf8)).write(to: copy)
      let isRead: Bool
      do throws(FieldpackError) {
        let reading = try GeoJSONReading(try ByteInput(path: copy.path), ReadOptions(layer: "x"))
        #expect(reading.rows.count == 1)
        isRead = true
      } catch {
        #expect(error.code == .invalidData)
        isRead = false
      }
      let isMark = name == "i_structure_UTF-8_BOM_empty_object"
      #expect(try isRead == (Self.isExpected(name) && !isMark), "\(name)")
    }
  }
}
